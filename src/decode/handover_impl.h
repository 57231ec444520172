// What a decoding child and its parent tell each other: an order as JSON among the arguments, open
// files, and a result in a file in memory. The parent checks every byte of the result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/child_process.h"
#include "base/error.h"

namespace hum::decode {

// The descriptors of the child.
enum {
  kLogDescriptor = 2,  // messages of libraries, for debugging
  kUploadDescriptor = 3,
  kResultDescriptor = 4,
  kFfmpegDescriptor = 5,  // opened, if the order names a demuxer
  kSocketDescriptor = 3,  // of a child that decodes file after file, which has neither 4 nor 5
};

struct DecodeOrder {
  int64_t parent = 0;      // its process id
  std::string demuxer;     // ffmpeg's: write the sound as a wav file. Empty: decode here
  bool is_stream = false;  // decode the files that come on the socket
  bool mono = true;
  bool is_cut = false;  // the upload's end was cut off on purpose, beyond max_seconds
  double max_seconds = 0, min_seconds = 0;
  int64_t result_bytes = 0, memory_bytes = 0, processor_s = 0;
  std::string name, format_hint, length_hint;

  template <class V>
  void visit_fields(V& v) {
    v("parent", parent, "");
    v("demuxer", demuxer, "");
    v("is_stream", is_stream, "");
    v("mono", mono, "");
    v("is_cut", is_cut, "");
    v("max_seconds", max_seconds, "");
    v("min_seconds", min_seconds, "");
    v("result_bytes", result_bytes, "");
    v("memory_bytes", memory_bytes, "");
    v("processor_s", processor_s, "");
    v("name", name, "");
    v("format_hint", format_hint, "");
    v("length_hint", length_hint, "");
  }
};

// Runs `program`, or this program if it is empty, as the decoder that follows the order, which gets
// this process as its parent. Throws: kFailure for this program without a call of enter_decoder.
ChildCommand decoder_command(const std::filesystem::path& program, DecodeOrder order);

constexpr uint64_t kResultMagic = 0x31303064'6d7568ff;  // first: a wav file begins otherwise
constexpr int kLowestRate_hz = 1000, kHighestRate_hz = 768'000;
// Throws: kBadData for a rate outside these limits, about the file `name`.
inline void require_rate(const std::string& name, int rate_hz) {
  if (rate_hz >= kLowestRate_hz && rate_hz <= kHighestRate_hz) return;
  fail(ExitCode::kBadData, fmt::format("{}: has a sample rate of {} Hz", name, rate_hz),
       fmt::format("export it with {} Hz to {} Hz", kLowestRate_hz, kHighestRate_hz));
}

// The beginning of a result. After it come the samples (interleaved floats), or the texts of an
// error. A child that dies before it is done leaves zeros.
struct ResultHeader {
  uint64_t magic = kResultMagic;
  int32_t exit_code = 0;  // of the error; 0: none
  int32_t rate_hz = 0, channels = 0;
  int32_t source_channels = 0, only_channel = -1;  // -1: none
  uint32_t message_bytes = 0, hint_bytes = 0;
  uint32_t unused = 0;
  int64_t frames = 0;
  double clipped_fraction = 0;
};
static_assert(sizeof(ResultHeader) == 56);

// In child.cpp.
[[noreturn]] void carry_out(const DecodeOrder& order);

// ---- Of a child that decodes file after file ----

// Comes with the file's descriptor.
struct StreamRequest {
  int64_t file_bytes = 0;
  double max_seconds = 0;
};

// What the child answers: first one without samples, once it is confined; then for each file blocks
// with samples (interleaved floats) and one without, or with the texts of an error.
struct StreamBlock {
  uint64_t magic = kResultMagic;
  int32_t exit_code = 0;  // of the error; 0: none
  int32_t rate_hz = 0, channels = 0;
  uint32_t message_bytes = 0, hint_bytes = 0;
  uint32_t unused = 0;
  int64_t frames = 0;  // 0: the end
};
static_assert(sizeof(StreamBlock) == 40);

// In stream_child.cpp.
[[noreturn]] void decode_streams(const DecodeOrder& order);

}  // namespace hum::decode

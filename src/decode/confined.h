// Decodes uploads in a child process that can do nothing else: a malicious file reaches neither the
// server nor other users' files. What the child hands back is checked, not trusted.
// Not here: the limit on the size of an upload, resampling, warnings about the recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "audio/io.h"
#include "pipeline/recording.h"

namespace hum::decode {

struct DecodeLimits {
  // True: one channel, exactly the samples of audio::read_mono. False: one or two channels, exactly
  // those of audio::read_audio; more channels are mixed into one.
  bool mono = true;
  double max_seconds = audio::kDefaultMaxSeconds;
  double min_seconds = pipeline::kMinRecording_s;
  // In messages; the hints: if it is not a sound file, and if it is too long.
  std::string name = "the recording";
  std::string format_hint = "upload a wav, flac, ogg, mp3, webm or m4a file";
  std::string length_hint = "upload a shorter one";

  int64_t result_bytes = int64_t{512} << 20;  // 4 per sample
  int64_t memory_bytes = int64_t{512} << 20;  // of the decoder, besides the program and the upload
  std::chrono::seconds processor_time{60};
  std::chrono::milliseconds wall_time{180'000};

  std::filesystem::path program;  // calls enter_decoder; empty: this program
  std::string ffmpeg = "ffmpeg";  // searched in PATH; for webm and m4a only
};

struct Decoded {
  double seconds = 0;
  int rate_hz = 0;
  int channels = 0;            // of `wav`
  audio::SourceFormat source;  // of the upload
};

// Decodes `upload` into `wav`: 32-bit floats at the upload's own rate. The content decides the
// format: wav, aiff, caf, au, flac, ogg (Vorbis, Opus) and mp3, and with ffmpeg webm and m4a (mp4).
// `wav` appears only once it is whole; an error leaves nothing behind. Blocks; thread-safe.
//
// The child gets the upload as a sealed copy in memory. It has no network and opens no file. Only
// ffmpeg may read files: those of the system (Landlock; where the kernel lacks it, whatever this
// process may read), and it may write none.
// Throws: kNoInput if there is no such file; kCannotCreate if `wav` cannot be written. kBadData if
//   the file is at fault: what read_audio and read_recording (silence) throw, a crash, too much
//   time or memory, a forbidden system call. kUnavailable if ffmpeg is not installed, or the kernel
//   has no seccomp. kTemporary if the machine is at fault: no memory, too busy, or it killed the
//   child; trying again may help.
Decoded decode_confined(const std::filesystem::path& upload, const std::filesystem::path& wav,
                        const DecodeLimits& limits = {});

// A program with this first argument is the child.
inline constexpr std::string_view kConfinedDecode = "--confined-decode";
// For main(), before anything else: in a child, decodes and does not return. A program whose main()
// does not call it would run itself as its child again and again, so decoding in it throws
// kFailure.
void enter_decoder(int argc, char** argv);

}  // namespace hum::decode

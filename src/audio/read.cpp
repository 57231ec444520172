// The reading half of audio/io.h.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/decoder_impl.h"
#include "audio/io.h"
#include "audio/sound_blocks.h"
#include "audio/sound_file_impl.h"
#include "audio/truncation_impl.h"
#include "base/error.h"
#include "base/files.h"
#include "base/mapped_file.h"
#include "base/process.h"
#include "base/scratch_folder.h"

namespace hum::audio {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostStdinBytes = int64_t{1} << 31;

// Receives interleaved samples block by block.
using Sink = std::function<void(std::span<const float>)>;

// A file to decode, on disk or in memory. Stdin is copied to a temporary file, because decoders go
// back to its start.
struct Source {
  std::unique_ptr<ScratchFolder> copy;
  fs::path path;  // empty: the file is in memory
  SoundBytes file;
};

Source source_of(const fs::path& path) {
  Source source{
      nullptr, path,
      SoundBytes{.bytes = {},
                 .name = name_of(path),
                 .format_hint = "hum reads wav, flac, ogg and mp3; convert others first: ffmpeg -i "
                                "FILE out.wav",
                 .length_hint = "raise --max-seconds, or trim the file"}};
  if (!is_standard_stream(path)) return source;
  source.copy = std::make_unique<ScratchFolder>();
  source.path = source.copy->path() / "stdin";
  copy_stdin(source.path, kMostStdinBytes);
  return source;
}

[[noreturn]] void fail_truncated(const Source& source) {
  fail(ExitCode::kBadData, source.file.name + ": the file is truncated",
       "copy or download it again; the end is missing");
}

void require_readable(const Source& source) {
  std::error_code ignored;
  require_exists(source.path, "check the name of the recording");
  if (!fs::is_regular_file(source.path, ignored)) {
    fail(ExitCode::kNoInput, source.file.name + ": is not a file",
         "give a sound file, or - to read one from stdin");
  }
  if (::access(source.path.c_str(), R_OK) != 0) {
    fail(ExitCode::kNoPermission, source.file.name + ": cannot be read",
         "check its permissions (ls -l)");
  }
}

std::unique_ptr<Decoder> open_to_read(const Source& source) {
  const bool is_in_memory = source.path.empty();
  if (!is_in_memory) require_readable(source);
  {
    const std::optional<MappedFile> map =
        is_in_memory ? std::nullopt : std::optional<MappedFile>(source.path);
    const std::string_view bytes = map ? map->bytes() : source.file.bytes;
    if (bytes.empty()) {
      fail(ExitCode::kBadData, source.file.name + ": is empty", "record or copy it again");
    }
    if (is_truncated(bytes)) fail_truncated(source);
    if (is_unfinished(bytes)) {
      fail(ExitCode::kBadData,
           source.file.name + ": says that it has no samples: its recorder was stopped too early",
           "repair it with ffmpeg -i FILE out.wav, and use out.wav");
    }
  }
  auto [decoder, fault] =
      is_in_memory ? open_decoder(source.file.bytes) : open_decoder(source.path);
  if (decoder == nullptr) {
    fail(ExitCode::kBadData,
         fmt::format("{}: not a sound file that hum reads: {}", source.file.name, fault),
         source.file.format_hint);
  }
  return std::move(decoder);
}

// Reads the samples of a file and checks them.
class BlockReader {
 public:
  // The source and its decoder must outlive it.
  BlockReader(const Source& source, Decoder& decoder, double max_seconds);
  // Interleaved, until the next call; none after the end.
  std::span<const float> next();
  // Of the samples so far. Throws: kBadData.
  void require_finite() const;

 private:
  void check_all() const;

  const Source& source_;
  Decoder& decoder_;
  double max_seconds_;
  std::vector<float> block_;
  int64_t frames_ = 0;
  size_t bad_samples_ = 0, samples_ = 0;
};

BlockReader::BlockReader(const Source& source, Decoder& decoder, double max_seconds)
    : source_(source),
      decoder_(decoder),
      max_seconds_(max_seconds),
      block_(static_cast<size_t>(kBlockFrames) * static_cast<size_t>(decoder.channels)) {
  const double seconds = static_cast<double>(decoder.frames) / decoder.rate_hz;
  if (seconds > max_seconds) {
    fail(ExitCode::kBadData,
         fmt::format("{}: {:.1f} s long, the limit is {:g} s", source.file.name, seconds,
                     max_seconds),
         source.file.length_hint);
  }
}

std::span<const float> BlockReader::next() {
  const int64_t read = decoder_.read(block_);
  if (read == 0) {
    check_all();
    return {};
  }
  frames_ += read;
  if (static_cast<double>(frames_) > max_seconds_ * decoder_.rate_hz) {
    fail(ExitCode::kBadData,
         fmt::format("{}: longer than the limit of {:g} s", source_.file.name, max_seconds_),
         source_.file.length_hint);
  }
  const auto part =
      std::span<const float>(block_).first(static_cast<size_t>(read * decoder_.channels));
  samples_ += part.size();
  for (const float sample : part) bad_samples_ += std::isfinite(sample) ? 0 : 1;
  return part;
}

void BlockReader::check_all() const {
  if (decoder_.has_failed() || frames_ < decoder_.frames) fail_truncated(source_);
  if (frames_ == 0) {
    fail(ExitCode::kBadData, source_.file.name + ": holds no sound", "record it again");
  }
  require_finite();
}

void BlockReader::require_finite() const {
  if (bad_samples_ == 0) return;
  fail(ExitCode::kBadData,
       fmt::format("{}: {} of {} samples are not finite (NaN or infinity)", source_.file.name,
                   bad_samples_, samples_),
       "export the file again; the program that wrote it has a bug");
}

// Passes all samples to `sink`.
void read_blocks(const Source& source, Decoder& decoder, double max_seconds, const Sink& sink) {
  BlockReader reader(source, decoder, max_seconds);
  for (auto block = reader.next(); !block.empty(); block = reader.next()) sink(block);
}

// One channel of a file that was read before.
void read_channel(const Source& source, size_t channel, double max_seconds, const SoundSink& sink) {
  const auto decoder = open_to_read(source);
  const auto channels = static_cast<size_t>(decoder->channels);
  read_blocks(source, *decoder, max_seconds, [&](std::span<const float> block) {
    AudioBuffer part{decoder->rate_hz, 1, {}};
    for (size_t i = channel; i < block.size(); i += channels) part.samples.push_back(block[i]);
    sink(part);
  });
}

// What stream_mono promises. Measuring how much is clipped is optional.
SourceFormat mix_down(const Source& source, double max_seconds, bool measures_clipping,
                      const SoundSink& sink, const std::function<void()>& restart) {
  const auto decoder = open_to_read(source);
  const int rate_hz = decoder->rate_hz, channels = decoder->channels;
  Cancellation cancellation(channels);
  double frames = 0, clipped_frames = 0;
  read_blocks(source, *decoder, max_seconds, [&](std::span<const float> block) {
    const AudioBuffer part{rate_hz, channels, {block.begin(), block.end()}};
    const AudioBuffer mixed = to_mono(part);
    sink(mixed);
    if (channels > 1) cancellation.add(block, mixed.samples);
    frames += static_cast<double>(part.frames());
    if (measures_clipping) {
      clipped_frames += clipped_fraction(part) * static_cast<double>(part.frames());
    }
  });
  const auto only_channel = cancellation.channel_to_use();
  if (only_channel) {
    restart();
    read_channel(source, static_cast<size_t>(*only_channel), max_seconds, sink);
  }
  return {rate_hz, channels, clipped_frames / frames, only_channel};
}

}  // namespace

std::string name_of(const fs::path& path) {
  return is_standard_stream(path) ? "stdin" : path.string();
}

AudioBuffer read_audio(const fs::path& path, double max_seconds) {
  const Source source = source_of(path);
  const auto decoder = open_to_read(source);
  AudioBuffer buffer{decoder->rate_hz, decoder->channels, {}};
  read_blocks(source, *decoder, max_seconds, [&](std::span<const float> block) {
    buffer.samples.insert(buffer.samples.end(), block.begin(), block.end());
  });
  return buffer;
}

AudioBuffer read_mono(const fs::path& path, double max_seconds, SourceFormat* source) {
  AudioBuffer mono;
  const SourceFormat format = mix_down(
      source_of(path), max_seconds, source != nullptr,
      [&](const AudioBuffer& block) {
        mono.rate_hz = block.rate_hz;
        mono.samples.insert(mono.samples.end(), block.samples.begin(), block.samples.end());
      },
      [&] { mono.samples.clear(); });
  if (source != nullptr) *source = format;
  return mono;
}

struct SoundReader::State {
  State(const fs::path& path, double max_seconds)
      : source(source_of(path)),
        decoder(open_to_read(source)),
        blocks(source, *decoder, max_seconds) {}

  Source source;
  std::unique_ptr<Decoder> decoder;
  BlockReader blocks;
};

SoundReader::SoundReader(const fs::path& path, double max_seconds)
    : state_(std::make_unique<State>(path, max_seconds)) {}

SoundReader::~SoundReader() = default;

int SoundReader::rate_hz() const { return state_->decoder->rate_hz; }
int SoundReader::channels() const { return state_->decoder->channels; }
std::optional<int64_t> SoundReader::frames() const {
  const int64_t frames = state_->decoder->frames;
  return frames < 0 ? std::nullopt : std::optional(frames);
}
std::span<const float> SoundReader::next() {
  const auto block = state_->blocks.next();
  // Others count the bad samples of the whole file; here work is done with each block.
  state_->blocks.require_finite();
  return block;
}

void stream_audio(const SoundBytes& file, double max_seconds, const SoundSink& sink) {
  const Source source{nullptr, {}, file};
  const auto decoder = open_to_read(source);
  read_blocks(source, *decoder, max_seconds, [&](std::span<const float> block) {
    sink({decoder->rate_hz, decoder->channels, {block.begin(), block.end()}});
  });
}

SourceFormat stream_mono(const SoundBytes& file, double max_seconds, const SoundSink& sink,
                         const std::function<void()>& restart) {
  return mix_down({nullptr, {}, file}, max_seconds, true, sink, restart);
}

}  // namespace hum::audio

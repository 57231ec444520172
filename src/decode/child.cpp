// The child of decode_confined: it reads its order, confines itself, then touches the upload.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audio/io.h"
#include "base/error.h"
#include "decode/confined.h"
#include "decode/container.h"
#include "decode/handover_impl.h"
#include "decode/memory_file.h"
#include "decode/sandbox.h"

namespace hum::decode {
namespace {

// Writes the result. Not a file of the parent's: the parent copies from it what passes its checks.
class Result {
 public:
  explicit Result(int64_t most_bytes) : most_bytes_(most_bytes) { restart(); }

  void restart() {
    seek(sizeof(ResultHeader));
    bytes_ = 0;
  }
  void add(std::span<const float> samples) {
    bytes_ += std::ssize(samples) * static_cast<int64_t>(sizeof(float));
    if (bytes_ > most_bytes_) {
      fail(ExitCode::kBadData, fmt::format("holds more than {} MiB of samples", most_bytes_ >> 20),
           "use a shorter file, or one with a lower sample rate");
    }
    write({reinterpret_cast<const char*>(samples.data()), samples.size_bytes()});
  }
  void finish(const ResultHeader& header) {
    seek(0);
    write({reinterpret_cast<const char*>(&header), sizeof(header)});
  }
  void finish(const Error& error, const std::string& message) {
    restart();
    write(message);
    write(error.hint());
    finish({.exit_code = static_cast<int32_t>(error.code()),
            .message_bytes = static_cast<uint32_t>(message.size()),
            .hint_bytes = static_cast<uint32_t>(error.hint().size())});
  }

 private:
  static void seek(size_t offset) {
    ::lseek(kResultDescriptor, static_cast<off_t>(offset), SEEK_SET);
  }
  static void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(kResultDescriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail(ExitCode::kTemporary, "the machine lacks memory", "try again later");
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }

  int64_t most_bytes_, bytes_ = 0;
};

// The highest, lowest and mean sample of each channel.
class Levels {
 public:
  void add(const audio::AudioBuffer& block) {
    levels_.resize(static_cast<size_t>(block.channels));
    for (size_t i = 0; i < block.samples.size(); ++i) {
      Level& level = levels_[i % levels_.size()];
      level.low = std::min(level.low, block.samples[i]);
      level.high = std::max(level.high, block.samples[i]);
      level.sum += block.samples[i];
    }
    frames_ += block.frames();
  }
  int64_t frames() const { return frames_; }
  // As pipeline::checked_recording: within 80 dB below full scale of a constant level.
  bool is_silent() const {
    constexpr float kSilentPeak = 1e-4F;
    return std::ranges::all_of(levels_, [&](const Level& level) {
      const auto mean = static_cast<float>(level.sum / static_cast<double>(frames_));
      return level.high - mean < kSilentPeak && mean - level.low < kSilentPeak;
    });
  }

 private:
  struct Level {
    float low = INFINITY, high = -INFINITY;
    double sum = 0;
  };
  std::vector<Level> levels_;
  int64_t frames_ = 0;
};

// Checks of the whole sound.
void require_sound(const DecodeOrder& order, const Levels& levels, int rate_hz) {
  const double seconds = static_cast<double>(levels.frames()) / rate_hz;
  if (seconds < order.min_seconds) {
    fail(ExitCode::kBadData, fmt::format("{} is only {:.2f} s long", order.name, seconds),
         fmt::format("record at least {:g} s", order.min_seconds));
  }
  if (levels.is_silent()) {
    fail(ExitCode::kBadData, order.name + " is silent", "check the microphone and record it again");
  }
}

// Decodes into `result` and returns the header that belongs to it.
class Decoding {
 public:
  Decoding(const DecodeOrder& order, Result& result) : order_(order), result_(result) {}

  ResultHeader run(std::string_view upload) {
    const audio::SoundBytes file{.bytes = upload,
                                 .name = order_.name,
                                 .format_hint = order_.format_hint,
                                 .length_hint = order_.length_hint};
    // What was cut off at the limit is longer than the limit, however long it says it is.
    constexpr double kCut_s = 10;
    const double max_seconds = order_.max_seconds + (order_.is_cut ? kCut_s : 0);
    audio::SourceFormat source;
    if (order_.mono) {
      source = audio::stream_mono(
          file, max_seconds, [&](const audio::AudioBuffer& block) { add(block); },
          [&] { restart(); });
    } else {
      audio::stream_audio(file, max_seconds, [&](const audio::AudioBuffer& block) {
        source.rate_hz = block.rate_hz;
        source.channels = block.channels;
        clipped_frames_ += audio::clipped_fraction(block) * static_cast<double>(block.frames());
        add(block.channels > 2 ? audio::to_mono(block) : block);
      });
      source.clipped_fraction = clipped_frames_ / static_cast<double>(levels_.frames());
    }
    require_sound(order_, levels_, rate_hz_);
    return {.rate_hz = rate_hz_,
            .channels = channels_,
            .source_channels = source.channels,
            .only_channel = source.only_channel.value_or(-1),
            .frames = levels_.frames(),
            .clipped_fraction = source.clipped_fraction};
  }

 private:
  void add(const audio::AudioBuffer& block) {
    rate_hz_ = block.rate_hz;
    channels_ = block.channels;
    require_rate(order_.name, rate_hz_);
    levels_.add(block);
    if (static_cast<double>(levels_.frames()) > order_.max_seconds * rate_hz_) {
      fail(ExitCode::kBadData,
           fmt::format("{} is longer than the limit of {:g} s", order_.name, order_.max_seconds),
           order_.length_hint);
    }
    result_.add(block.samples);
  }
  void restart() {
    levels_ = {};
    result_.restart();
  }

  const DecodeOrder& order_;
  Result& result_;
  Levels levels_;
  int rate_hz_ = 0, channels_ = 0;
  double clipped_frames_ = 0;
};

// The rates of `aformat` are those that stay; ffmpeg converts others to the nearest.
std::vector<std::string> ffmpeg_arguments(const DecodeOrder& order) {
  return {"ffmpeg",
          "-nostdin",
          "-hide_banner",
          "-v",
          "error",
          "-xerror",
          "-threads",
          "1",
          "-t",
          fmt::format("{:.3f}", order.max_seconds + 1),
          "-protocol_whitelist",
          "file",
          "-f",
          order.demuxer,
          "-i",
          fmt::format("/proc/self/fd/{}", static_cast<int>(kUploadDescriptor)),
          "-map",
          "0:a:0",
          "-map_metadata",
          "-1",
          "-filter_threads",
          "1",
          "-af",
          "aformat=sample_fmts=flt:channel_layouts=mono|stereo:sample_rates=8000|11025|"
          "12000|16000|22050|24000|32000|44100|48000|64000|88200|96000",
          "-c:a",
          "pcm_f32le",
          "-threads",
          "1",
          "-fflags",
          "+bitexact",
          "-f",
          "wav",
          "pipe:1"};
}

[[noreturn]] void become_ffmpeg(const DecodeOrder& order) {
  {
    const FileView upload(kUploadDescriptor);
    const Container container = container_of(upload.bytes());
    if (is_cut_off(container, upload.bytes())) {
      fail(ExitCode::kBadData, order.name + " is truncated",
           "copy or download it again; the end is missing");
    }
  }
  ::dup2(kResultDescriptor, STDOUT_FILENO);
  ::fcntl(kResultDescriptor, F_SETFD, FD_CLOEXEC);
  become_program(kFfmpegDescriptor, ffmpeg_arguments(order), order.memory_bytes);
}

void follow(const DecodeOrder& order) {
  // What the file needs beyond the samples: headers and the log.
  constexpr int64_t kMore = int64_t{1} << 20;
  limit_resources(order.processor_s, order.result_bytes + kMore);
  if (::getppid() != order.parent) ::_exit(1);  // it died before it could be followed
  if (!order.demuxer.empty()) become_ffmpeg(order);
  const FileView upload(kUploadDescriptor);
  Result result(order.result_bytes);
  limit_memory(order.memory_bytes);
  allow_decoding_only();
  result.finish(Decoding(order, result).run(upload.bytes()));
}

// The message as a sentence about the upload: "the recording is empty".
std::string sentence(const std::string& name, const Error& error) {
  const std::string& message = error.message();
  if (error.code() != ExitCode::kBadData) return message;
  if (!message.starts_with(name)) return name + " " + message;
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {": is ", " is "},   {": the file is ", " is "}, {": not a ", " is not a "},
      {": has ", " has "}, {": holds ", " holds "},    {": longer ", " is longer "}};
  const std::string_view ending = std::string_view(message).substr(name.size());
  for (const auto& [from, to] : kEndings) {
    if (!ending.starts_with(from)) continue;
    return name + std::string(to) + std::string(ending.substr(from.size()));
  }
  return message;
}

void report(const DecodeOrder& order, const Error& error) {
  try {
    Result(order.result_bytes).finish(error, sentence(order.name, error));
  } catch (const std::exception&) {
    ::_exit(1);  // the parent says that there was no result
  }
}

}  // namespace

void carry_out(const DecodeOrder& order) {
  try {
    if (order.is_stream) decode_streams(order);
    follow(order);
  } catch (const Error& error) {
    report(order, error);
  } catch (const std::bad_alloc&) {
    report(order, Error(ExitCode::kBadData,
                        fmt::format("needs more than {} MiB to decode", order.memory_bytes >> 20),
                        "export the file again, as 16-bit wav"));
  } catch (const std::exception& error) {
    report(order, Error(ExitCode::kFailure, error.what(), ""));
  }
  ::_exit(0);  // exit handlers would make system calls
}

}  // namespace hum::decode

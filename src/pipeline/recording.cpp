#include "pipeline/recording.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "audio/resample.h"
#include "base/error.h"
#include "base/files.h"
#include "data/synthesis/timing.h"
#include "pipeline/sound_quality/sound_quality.h"

namespace hum::pipeline {
namespace {

// Peaks below -80 dBFS are the noise of a muted microphone.
constexpr float kSilentPeak = 1e-4F;
constexpr double kClippedShare = 1e-3;
constexpr int kLowRate_hz = 16000;  // below: as of a telephone

std::string channel_name(int channel, int channels) {
  if (channels == 2) return channel == 0 ? "the left one" : "the right one";
  return fmt::format("channel {}", channel + 1);
}

std::vector<std::string> warnings_of(const audio::SourceFormat& source) {
  std::vector<std::string> warnings;
  if (source.clipped_fraction > kClippedShare) {
    warnings.push_back(fmt::format(
        "the recording is clipped ({:.1f} % of its samples); record it at a lower level",
        100 * source.clipped_fraction));
  }
  if (source.only_channel) {
    warnings.push_back(
        fmt::format("the channels are in opposite phase and cancel each other; only {} is used",
                    channel_name(*source.only_channel, source.channels)));
  } else if (source.channels > 2) {
    warnings.push_back(fmt::format("{} channels were mixed into one", source.channels));
  }
  if (source.rate_hz > 96000) {
    warnings.push_back(fmt::format("the sample rate of {} Hz was converted to {} Hz",
                                   source.rate_hz, data::kSampleRate));
  }
  if (source.rate_hz < kLowRate_hz) {
    warnings.push_back(fmt::format(
        "the sample rate of {} Hz is low; harmonics above {} Hz are lost; record at {} Hz or more",
        source.rate_hz, source.rate_hz / 2, kLowRate_hz));
  }
  return warnings;
}

float mean_of(std::span<const float> samples) {
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  return static_cast<float>(sum / static_cast<double>(samples.size()));
}

// Throws kBadData if the sound does not move around its mean.
void require_sound(const std::string& name, std::span<const float> samples, float mean) {
  const bool is_silent = std::ranges::all_of(
      samples, [&](float sample) { return std::fabs(sample - mean) < kSilentPeak; });
  if (!is_silent) return;
  const bool is_zero = std::fabs(mean) < kSilentPeak;
  fail(ExitCode::kBadData,
       name + (is_zero ? ": is silent"
                       : fmt::format(": is silent, at a constant level of {:.3g}", mean)),
       "check the microphone and record it again");
}

}  // namespace

Recording checked_recording(audio::AudioBuffer mono, const audio::SourceFormat& source,
                            const std::string& name) {
  Recording recording{{}, mono.seconds(), warnings_of(source)};
  if (recording.seconds < kMinRecording_s) {
    fail(ExitCode::kBadData,
         fmt::format("{}: only {:.2f} s long, too short", name, recording.seconds),
         fmt::format("record at least {} s", kMinRecording_s));
  }
  const float mean = mean_of(mono.samples);
  require_sound(name, mono.samples, mean);
  if (std::fabs(mean) > kSilentPeak) {  // an offset is not heard, but would count as loudness
    for (float& sample : mono.samples) sample -= mean;
  }
  recording.samples = audio::resample(mono.samples, mono.rate_hz, data::kSampleRate);
  if (source.rate_hz >= kLowRate_hz && has_narrow_band(recording.samples)) {
    recording.warnings.emplace_back(
        "nothing sounds above about 5 kHz, as after a telephone call or strong compression: quiet "
        "notes may be missed; record with an app that keeps the whole sound");
  }
  return recording;
}

void validate_max_seconds(double max_seconds) {
  if (max_seconds > 0) return;
  fail(ExitCode::kUsage, fmt::format("--max-seconds {:g} is not above 0", max_seconds),
       fmt::format("--max-seconds {:g}", audio::kDefaultMaxSeconds));
}

void require_output(const std::filesystem::path& path,
                    std::initializer_list<std::string_view> extensions) {
  const std::string extension = audio::extension_of(path);
  std::string names;
  for (const auto& name : extensions) names += (names.empty() ? "" : ", ") + std::string(name);
  if (std::ranges::find(extensions, extension) == extensions.end()) {
    fail(ExitCode::kUsage,
         extension.empty()
             ? fmt::format("{}: has no extension, which would name the format", path.string())
             : fmt::format("{}: '{}' is not an output format of this command", path.string(),
                           extension),
         "use one of " + names);
  }
  require_writable(path);
}

}  // namespace hum::pipeline

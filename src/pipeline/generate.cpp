#include "pipeline/generate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/loudness.h"
#include "audio/mix.h"
#include "audio/resample.h"
#include "base/error.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

constexpr double kDeadBelow = 1e-3;  // 60 dB
constexpr double kMinTail_s = 0.1;
constexpr double kFade_s = 0.1;

// The end of the decay: that of the last 20 ms frame above the floor.
int64_t end_of_sound(std::span<const float> samples, int channels) {
  const auto frame_size = static_cast<size_t>(data::kFrameSamples * channels);
  double loudest = 0;
  int64_t end = 0;
  auto level = [&](size_t at) {
    double sum = 0;
    const size_t stop = std::min(samples.size(), at + frame_size);
    for (size_t i = at; i < stop; ++i) sum += static_cast<double>(samples[i]) * samples[i];
    return std::sqrt(sum / static_cast<double>(stop - at));
  };
  for (size_t at = 0; at < samples.size(); at += frame_size) {
    loudest = std::max(loudest, level(at));
  }
  for (size_t at = 0; at < samples.size(); at += frame_size) {
    if (level(at) > kDeadBelow * loudest) end = static_cast<int64_t>(at + frame_size);
  }
  return std::min(end, static_cast<int64_t>(samples.size())) / channels;
}

// Fades the last `count` samples of each channel to zero with half a cosine.
void fade_out(std::span<float> samples, int64_t count, int channels) {
  const int64_t size = std::ssize(samples) / channels;
  count = std::min(count, size);
  for (int64_t i = 0; i < count * channels; ++i) {
    const double turn =
        std::numbers::pi * static_cast<double>(i / channels + 1) / static_cast<double>(count);
    samples[static_cast<size_t>((size - count) * channels + i)] *=
        static_cast<float>(0.5 + 0.5 * std::cos(turn));
  }
}

}  // namespace

int64_t end_of_release(std::span<const float> samples, double melody_end_s, int channels) {
  const int64_t shortest = data::sample_of(melody_end_s + kMinTail_s);
  const int64_t longest = data::sample_of(melody_end_s + kMaxRelease_s);
  return std::min(std::clamp(end_of_sound(samples, channels), shortest, longest),
                  std::ssize(samples) / channels);
}

void fade_end(std::span<float> samples, int channels) {
  fade_out(samples, data::sample_of(kFade_s), channels);
}

void require_finite(std::span<const float> samples) {
  if (std::ranges::all_of(samples, [](float sample) { return std::isfinite(sample); })) return;
  fail(ExitCode::kFailure, "the models produced samples that are not finite",
       "the weights may be damaged: fetch them again");
}

audio::AudioBuffer finish(std::vector<float> samples, double melody_end_s,
                          const FinishOptions& options) {
  require_finite(samples);
  const int channels = options.sound_channels;
  samples.resize(static_cast<size_t>(end_of_release(samples, melody_end_s, channels) * channels));
  fade_end(samples, channels);
  auto sound = audio::resample({data::kSampleRate, channels, std::move(samples)}, options.rate_hz);
  if (options.loop) sound.samples = wrap(sound.samples, sound.rate_hz, *options.loop, channels);
  sound = audio::widened(std::move(sound), options.channels);
  audio::normalise(sound);
  return sound;
}

audio::AudioBuffer with_backing(audio::AudioBuffer melody, const audio::AudioBuffer& backing,
                                double gain_db) {
  auto song =
      backing.rate_hz == melody.rate_hz ? backing : audio::resample(backing, melody.rate_hz);
  if (song.channels > 2) song = audio::to_mono(song);
  // One channel on two loudspeakers is 3 dB louder; levels are those that listeners hear.
  const int channels = std::max(song.channels, melody.channels);
  for (auto* sound : {&song, &melody}) *sound = audio::widened(std::move(*sound), channels);
  const double own_lufs = audio::integrated_lufs(melody.samples, melody.rate_hz, channels);
  const double song_lufs = audio::integrated_lufs(song.samples, song.rate_hz, channels);
  if (!std::isfinite(song_lufs)) {
    fail(ExitCode::kBadData, "the backing is silent", "use another backing track");
  }
  if (std::isfinite(own_lufs)) audio::apply_gain(melody, song_lufs + gain_db - own_lufs);
  auto both = audio::mix(song, melody);
  audio::normalise(both);
  return both;
}

}  // namespace hum::pipeline

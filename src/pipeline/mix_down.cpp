#include "pipeline/mix_down.h"

#include <algorithm>
#include <cmath>

#include "audio/limiter.h"
#include "audio/loudness.h"
#include "audio/mix.h"
#include "base/error.h"

namespace hum::pipeline {
namespace {

constexpr audio::LoudnessTarget kTarget;
// Limiting reduces loudness; each iteration raises the gain to restore it. Clicks alone stay quiet.
constexpr int kRounds = 4;
constexpr double kMaxMakeUp_db = 6;

// The largest magnitude in each frame, of the sum and of every part.
std::vector<float> peaks_of(const audio::AudioBuffer& sum, const std::vector<Part>& parts) {
  const auto channels = static_cast<size_t>(sum.channels);
  std::vector<float> peaks(sum.samples.size() / channels);
  auto add = [&](const audio::AudioBuffer& sound) {
    for (size_t i = 0; i < peaks.size() * channels; ++i) {
      peaks[i / channels] = std::max(peaks[i / channels], std::fabs(sound.samples[i]));
    }
  };
  add(sum);
  for (const Part& part : parts) add(part.sound);
  return peaks;
}

// `gain`, reduced so that each frame's peak stays below the limiter's ceiling.
std::vector<float> gains_of(std::vector<float> peaks, double gain_db, int rate_hz) {
  const auto gain = static_cast<float>(audio::from_db(gain_db));
  for (float& peak : peaks) peak *= gain;
  auto gains = audio::limiter_gains(peaks, rate_hz);
  for (float& value : gains) value *= gain;
  return gains;
}

audio::AudioBuffer with_gains(audio::AudioBuffer sound, const std::vector<float>& gains) {
  const auto channels = static_cast<size_t>(sound.channels);
  for (size_t i = 0; i < sound.samples.size(); ++i) sound.samples[i] *= gains[i / channels];
  return sound;
}

// The gains per frame that bring the sum to the target.
std::vector<float> mastering_gains(const audio::AudioBuffer& sum, const std::vector<float>& peaks) {
  auto lufs_of = [](const audio::AudioBuffer& sound) {
    return audio::integrated_lufs(sound.samples, sound.rate_hz, sound.channels);
  };
  const double lufs = lufs_of(sum);
  if (!std::isfinite(lufs)) return std::vector<float>(peaks.size(), 1);
  const double plain_db = kTarget.target_lufs - lufs;
  double gain_db = plain_db;
  std::vector<float> gains;
  for (int round = 0; round < kRounds; ++round) {
    gains = gains_of(peaks, gain_db, sum.rate_hz);
    const double lacking_db = kTarget.target_lufs - lufs_of(with_gains(sum, gains));
    gain_db = std::min(gain_db + lacking_db, plain_db + kMaxMakeUp_db);
  }
  return gains;
}

}  // namespace

audio::AudioBuffer mix_down(std::vector<Part>& parts) {
  HUM_REQUIRE(!parts.empty(), "mix_down: no parts");
  size_t longest = 0;
  for (const Part& part : parts) longest = std::max(longest, part.sound.samples.size());
  audio::AudioBuffer sum{parts[0].sound.rate_hz, parts[0].sound.channels,
                         std::vector<float>(longest)};
  for (Part& part : parts) {
    auto& sound = part.sound;
    sound.samples.resize(longest);
    const double lufs = audio::integrated_lufs(sound.samples, sound.rate_hz, sound.channels);
    if (std::isfinite(lufs)) audio::apply_gain(sound, kTarget.target_lufs + part.level_db - lufs);
    sum = audio::mix(sum, sound);
  }
  const auto gains = mastering_gains(sum, peaks_of(sum, parts));
  for (Part& part : parts) part.sound = with_gains(std::move(part.sound), gains);
  return with_gains(std::move(sum), gains);
}

}  // namespace hum::pipeline

#include "pipeline/stems.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "audio/loudness.h"
#include "audio/mix.h"
#include "base/error.h"

namespace hum::pipeline {

audio::AudioBuffer mix_down(std::vector<Stem>& stems) {
  HUM_REQUIRE(!stems.empty(), "mix_down: no stems");
  constexpr audio::LoudnessTarget kTarget;
  size_t longest = 0;
  for (const Stem& stem : stems) longest = std::max(longest, stem.sound.samples.size());
  audio::AudioBuffer sum{stems[0].sound.rate_hz, stems[0].sound.channels,
                         std::vector<float>(longest)};
  for (Stem& stem : stems) {
    auto& sound = stem.sound;
    sound.samples.resize(longest);
    const double lufs = audio::integrated_lufs(sound.samples, sound.rate_hz, sound.channels);
    if (std::isfinite(lufs)) audio::apply_gain(sound, kTarget.target_lufs + stem.level_db - lufs);
    sum = audio::mix(sum, sound);
  }
  double peak_dbtp = -std::numeric_limits<double>::infinity();
  for (const Stem& stem : stems) {
    const auto& sound = stem.sound;
    peak_dbtp =
        std::max(peak_dbtp, audio::true_peak_dbtp(sound.samples, sound.rate_hz, sound.channels));
  }
  double gain_db = audio::normalise(sum);
  const double over_db = peak_dbtp + gain_db - kTarget.max_true_peak_dbtp;
  if (over_db > 0) {
    audio::apply_gain(sum, -over_db);
    gain_db -= over_db;
  }
  for (Stem& stem : stems) audio::apply_gain(stem.sound, gain_db);
  return sum;
}

}  // namespace hum::pipeline

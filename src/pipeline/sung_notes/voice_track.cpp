#include "pipeline/sung_notes/voice_track.h"

#include <algorithm>
#include <cmath>

#include "audio/dsp.h"
#include "audio/notes.h"
#include "audio/pitch.h"
#include "base/error.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

constexpr int64_t kLevelWindow = 441, kLevelHop = 63;
constexpr int kPitchHop = 126;
// Half of YIN's usual window: it blurs a note's edges less, and 70 Hz still fits in.
constexpr audio::YinOptions kYin{
    .min_hz = 70, .max_hz = 1400, .window_samples = 1024, .hop_samples = kPitchHop};
constexpr double kVoicedAperiodicity = 0.25;
constexpr double kQuiet = 0.0316;  // 30 dB

Curve level_of(std::span<const float> samples) {
  const auto window = audio::hann_window(kLevelWindow);
  double weight = 0;
  for (const float w : window) weight += w;
  Curve level{static_cast<double>(kLevelHop) / data::kSampleRate, {}};
  const auto count = std::ssize(samples);
  for (int64_t center = 0; center < count; center += kLevelHop) {
    const int64_t first = center - kLevelWindow / 2;
    const int64_t from = std::max<int64_t>(first, 0), to = std::min(first + kLevelWindow, count);
    double sum = 0;
    for (int64_t i = from; i < to; ++i) {
      const double sample = samples[static_cast<size_t>(i)];
      sum += window[static_cast<size_t>(i - first)] * sample * sample;
    }
    level.values.push_back(std::sqrt(sum / weight));
  }
  return level;
}

}  // namespace

int64_t Curve::index(double at_s) const {
  HUM_CHECK(!values.empty());
  return std::clamp<int64_t>(std::llround(at_s / step_s), 0, size() - 1);
}

bool VoiceTrack::is_voiced(int64_t i) const {
  return aperiodicity[i] < kVoicedAperiodicity && level[level.index(pitch.time(i))] > kQuiet * loud;
}

std::optional<double> VoiceTrack::median_pitch(double from_s, double to_s) const {
  std::vector<double> found;
  const int64_t first = pitch.index(from_s), last = pitch.index(to_s);
  for (int64_t i = first; i <= last; ++i) {
    if (is_voiced(i)) found.push_back(pitch[i]);
  }
  if (last < first || 2 * std::ssize(found) < last - first + 1) return {};
  const auto middle = found.begin() + std::ssize(found) / 2;
  std::ranges::nth_element(found, middle);
  return *middle;
}

VoiceTrack track_voice(std::span<const float> samples) {
  HUM_REQUIRE(!samples.empty(), "track_voice: no samples");
  VoiceTrack track{.level = level_of(samples)};
  auto sorted = track.level.values;
  const auto loud = sorted.begin() + std::ssize(sorted) * 9 / 10;
  std::ranges::nth_element(sorted, loud);
  track.loud = *loud;
  const auto yin = audio::yin(samples, data::kSampleRate, kYin);
  track.pitch = {yin.frame_s, {}};
  track.aperiodicity = {yin.frame_s, yin.aperiodicity};
  for (const double hz : yin.hz) track.pitch.values.push_back(audio::hz_to_midi(hz));
  return track;
}

}  // namespace hum::pipeline

#include "pipeline/tuning.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "audio/notes.h"
#include "audio/pitch.h"
#include "audio/resample.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

constexpr double kVoicedAperiodicity = 0.2;
// Frames more than 40 dB below the loudest are breath and room.
constexpr double kQuiet = 0.01;
// A frame further than this from its neighbour is in a glide.
constexpr double kSteady_semitones = 0.25;

}  // namespace

TuningEstimate estimate_tuning(std::span<const float> samples) {
  const auto track = audio::yin(samples, data::kSampleRate);
  const double loudest = track.rms.empty() ? 0 : *std::ranges::max_element(track.rms);
  int64_t loud = 0, voiced = 0;
  std::complex<double> sum = 0;
  double steady = 0, previous = 0;
  for (size_t t = 0; t < track.hz.size(); ++t) {
    if (track.rms[t] <= kQuiet * loudest) continue;
    ++loud;
    if (track.aperiodicity[t] > kVoicedAperiodicity) continue;
    ++voiced;
    const double pitch = audio::hz_to_midi(track.hz[t]);
    if (std::fabs(pitch - previous) < kSteady_semitones) {
      sum += std::polar(1.0, 2 * std::numbers::pi * pitch);
      ++steady;
    }
    previous = pitch;
  }
  TuningEstimate result;
  if (loud > 0) result.voiced_share = static_cast<double>(voiced) / static_cast<double>(loud);
  if (steady > 0) {
    result.offset_cents = 100 * std::arg(sum) / (2 * std::numbers::pi);
    result.agreement = std::abs(sum) / steady;
  }
  return result;
}

Retuned retune(std::span<const float> samples, double offset_cents) {
  const int to_hz =
      static_cast<int>(std::lround(data::kSampleRate * std::exp2(offset_cents / 1200)));
  return {audio::resample(samples, data::kSampleRate, to_hz),
          static_cast<double>(to_hz) / data::kSampleRate};
}

}  // namespace hum::pipeline

#include "eval/harness/note_samples.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "audio/loudness.h"
#include "audio/resample.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"

namespace hum::eval {
namespace {

constexpr double kFade_s = 0.05;

double velocity(double amplitude) { return 127 * amplitude; }

const NoteSample& nearest(std::span<const NoteSample> bank, const audio::Note& note) {
  return *std::ranges::min_element(bank, {}, [&](const NoteSample& sample) {
    return std::pair(std::abs(sample.pitch - note.pitch),
                     std::abs(sample.amplitude - note.amplitude));
  });
}

// The sample as if it had been recorded at another rate, which moves its pitch.
std::vector<float> at_pitch(const NoteSample& sample, int pitch) {
  if (pitch == sample.pitch) return sample.samples;
  const double ratio = std::exp2((pitch - sample.pitch) / 12.0);
  return audio::resample(sample.samples, static_cast<int>(std::lround(data::kSampleRate * ratio)),
                         data::kSampleRate);
}

}  // namespace

std::vector<NoteSample> cut_notes(std::span<const float> samples,
                                  std::span<const audio::Note> notes) {
  std::vector<NoteSample> bank;
  for (const audio::Note& note : notes) {
    const int64_t start = std::max<int64_t>(0, data::sample_of(note.start_s));
    int64_t end = std::ssize(samples);
    for (const audio::Note& other : notes) {
      if (other.start_s > note.start_s) end = std::min(end, data::sample_of(other.start_s));
    }
    if (start >= end) continue;
    bank.push_back({note.pitch, note.amplitude, {samples.begin() + start, samples.begin() + end}});
  }
  return bank;
}

std::vector<float> play_samples(std::span<const NoteSample> bank,
                                std::span<const audio::Note> notes, int64_t size) {
  std::vector<float> sound(static_cast<size_t>(size));
  if (bank.empty()) return sound;
  constexpr double kFade = kFade_s * data::kSampleRate;
  for (const audio::Note& note : notes) {
    const NoteSample& sample = nearest(bank, note);
    const auto played = at_pitch(sample, note.pitch);
    const double gain = audio::from_db((velocity(note.amplitude) - velocity(sample.amplitude)) /
                                       data::kVelocityPerDb);
    const int64_t start = data::sample_of(note.start_s);
    const int64_t sounding = data::sample_of(note.end_s) - start;
    for (int64_t i = 0; i < std::ssize(played); ++i) {
      const double fade = std::clamp(1 - static_cast<double>(i - sounding) / kFade, 0.0, 1.0);
      if (fade == 0 || start + i >= size) break;
      if (start + i < 0) continue;
      sound[static_cast<size_t>(start + i)] +=
          static_cast<float>(fade * gain) * played[static_cast<size_t>(i)];
    }
  }
  return sound;
}

}  // namespace hum::eval

#include "pipeline/decay.h"

#include <algorithm>
#include <cmath>

#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

// At an onset the gain changes within 5 ms.
constexpr int64_t kOnsetSamples = 110;

double amplitude(double gain_db) { return std::pow(10, gain_db / 20); }

}  // namespace

Decay::Decay(std::span<const audio::Note> notes, const DecayFunction& gain_db) {
  if (!gain_db) return;
  std::vector<audio::Note> in_order(notes.begin(), notes.end());
  std::ranges::stable_sort(in_order, [](const audio::Note& a, const audio::Note& b) {
    return a.start_s != b.start_s ? a.start_s < b.start_s : a.pitch < b.pitch;
  });
  bool changes = false;
  for (size_t i = 0; i < in_order.size(); ++i) {
    const audio::Note& note = in_order[i];
    const int64_t start = data::sample_of(note.start_s);
    const int64_t next = i + 1 < in_order.size() ? data::sample_of(in_order[i + 1].start_s)
                                                 : data::sample_of(note.end_s);
    if (next <= start) continue;  // of a chord the highest
    const int64_t end = std::min(next, data::sample_of(note.end_s));
    points_.push_back({start, gain_db(note.pitch, 0), /*is_onset=*/true});
    for (int64_t age = 1; start + age * data::kFrameSamples < end; ++age) {
      points_.push_back({start + age * data::kFrameSamples, gain_db(note.pitch, age)});
    }
    points_.push_back({end, points_.back().gain_db});
    changes = changes || points_.back().gain_db != 0;
  }
  if (!changes) points_.clear();
}

double Decay::amplitude_at(int64_t sample) const {
  const auto next = std::ranges::upper_bound(points_, sample, {}, &Point::sample);
  if (next == points_.begin()) return 1;
  const auto here = next - 1;
  if (here->is_onset && sample < here->sample + kOnsetSamples && here != points_.begin()) {
    const double share = static_cast<double>(sample - here->sample) / kOnsetSamples;
    const double before = amplitude((here - 1)->gain_db);
    return before + share * (amplitude(here->gain_db) - before);
  }
  if (next == points_.end() || next->is_onset) return amplitude(here->gain_db);
  const double share =
      static_cast<double>(sample - here->sample) / static_cast<double>(next->sample - here->sample);
  return amplitude(here->gain_db + share * (next->gain_db - here->gain_db));
}

void Decay::apply(std::span<float> samples, int64_t first_sample, int channels) const {
  if (points_.empty()) return;
  const int64_t count = std::ssize(samples) / channels;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t sample = first_sample + i;
    const auto gain = static_cast<float>(amplitude_at(sample));
    for (float& value :
         samples.subspan(static_cast<size_t>(i * channels), static_cast<size_t>(channels))) {
      value *= gain;
    }
  }
}

}  // namespace hum::pipeline

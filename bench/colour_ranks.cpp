#include "bench/colour_ranks.h"

#include <algorithm>

#include "data/synthesis/timing.h"
#include "eval/metrics/harmonic_levels.h"
#include "eval/metrics/timbre.h"

namespace hum::bench {

std::vector<ColourJudge> colour_judges() {
  return {
      {"harmonic levels",
       [](const Tones& tones) {
         return as_place(eval::harmonic_levels(tones.samples, data::kSampleRate, tones.notes));
       }},
      {"MFCC, 60 dB", [](const Tones& tones) {
         return as_place(eval::timbre_of(tones.samples, data::kSampleRate, eval::kAudibleRange_db));
       }}};
}

std::vector<size_t> nearer_rivals(const ColourJudge& judge, const std::vector<Output>& outputs,
                                  const std::vector<Tones>& references) {
  std::vector<Place> places;
  for (const Tones& reference : references) places.push_back(judge.place(reference));
  std::vector<size_t> nearer;
  for (const Output& output : outputs) {
    const Place place = judge.place(output.tones);
    const double own = distance(place, places[output.reference]);
    nearer.push_back(static_cast<size_t>(std::ranges::count_if(
        output.rivals, [&](size_t rival) { return distance(place, places[rival]) <= own; })));
  }
  return nearer;
}

OwnShares::OwnShares(const std::vector<size_t>& nearer)
    : outputs(static_cast<double>(nearer.size())) {
  own = static_cast<double>(std::ranges::count(nearer, size_t{0})) / outputs;
  nearest_two = own + static_cast<double>(std::ranges::count(nearer, size_t{1})) / outputs;
}

Json OwnShares::figures() const {
  return {{"outputs", outputs}, {"own", own}, {"among the nearest two", nearest_two}};
}

}  // namespace hum::bench

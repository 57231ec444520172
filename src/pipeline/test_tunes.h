// Public-domain tunes as notes, for the tests of tempo and key.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "audio/notes.h"
#include "base/rng.h"

namespace hum::pipeline {

struct Tune {
  std::string_view name;
  std::string_view key;
  std::vector<std::pair<int, double>> notes;  // pitch, beats
};

inline const std::vector<Tune>& tunes() {
  static const std::vector<Tune> kTunes = {
      {"Ode to Joy", "D:major", {{66, 1},   {66, 1},  {67, 1}, {69, 1},   {69, 1},  {67, 1},
                                 {66, 1},   {64, 1},  {62, 1}, {62, 1},   {64, 1},  {66, 1},
                                 {66, 1.5}, {64, .5}, {64, 2}, {66, 1},   {66, 1},  {67, 1},
                                 {69, 1},   {69, 1},  {67, 1}, {66, 1},   {64, 1},  {62, 1},
                                 {62, 1},   {64, 1},  {66, 1}, {64, 1.5}, {62, .5}, {62, 2}}},
      {"Twinkle", "C:major", {{60, 1}, {60, 1}, {67, 1}, {67, 1}, {69, 1}, {69, 1}, {67, 2},
                              {65, 1}, {65, 1}, {64, 1}, {64, 1}, {62, 1}, {62, 1}, {60, 2},
                              {67, 1}, {67, 1}, {65, 1}, {65, 1}, {64, 1}, {64, 1}, {62, 2}}},
      {"Frere Jacques",
       "F:major",
       {{65, 1},  {67, 1},  {69, 1}, {65, 1}, {65, 1},  {67, 1},  {69, 1},  {65, 1},
        {69, 1},  {70, 1},  {72, 2}, {69, 1}, {70, 1},  {72, 2},  {72, .5}, {74, .5},
        {72, .5}, {70, .5}, {69, 1}, {65, 1}, {72, .5}, {74, .5}, {72, .5}, {70, .5},
        {69, 1},  {65, 1},  {65, 1}, {60, 1}, {65, 2},  {65, 1},  {60, 1},  {65, 2}}},
      {"God Rest Ye Merry",
       "E:minor",
       {{64, 1}, {64, 1}, {71, 1}, {71, 1}, {69, 1}, {67, 1}, {66, 1}, {64, 1}, {62, 1}, {64, 1},
        {66, 1}, {67, 1}, {69, 1}, {71, 3}, {64, 1}, {64, 1}, {71, 1}, {71, 1}, {69, 1}, {67, 1},
        {66, 1}, {64, 1}, {62, 1}, {64, 1}, {66, 1}, {67, 1}, {69, 1}, {71, 3}}}};
  return kTunes;
}

// The tune sung at a tempo, legato with small gaps, with a normal deviation of jitter_s per onset.
inline std::vector<audio::Note> sing(const Tune& tune, double bpm, double first_s = 0.4,
                                     double jitter_s = 0, uint64_t seed = 1) {
  Rng rng(seed, "jitter");
  std::vector<audio::Note> notes;
  double at_s = first_s;
  for (const auto& [pitch, beats] : tune.notes) {
    const double start_s = at_s + jitter_s * rng.normal();
    at_s += beats * 60 / bpm;
    notes.push_back({start_s, at_s - 0.08, pitch, 0.6, {}});
  }
  return notes;
}

}  // namespace hum::pipeline

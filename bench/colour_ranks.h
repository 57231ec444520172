// Is an output nearer in colour to its own reference than to references of other instruments? Two
// judges measure it: the levels of its harmonics at the pitches that are played, and its mean MFCC
// with a floor at 60 dB.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "bench/embeddings.h"
#include "eval/metrics/note_score.h"

namespace hum::bench {

// A sound and the notes in it, at the pitches that sound.
struct Tones {
  std::vector<float> samples;  // mono at 22,050 Hz
  std::vector<eval::PitchedNote> notes;
};

// An output, the reference that it imitates, and references of other instruments, by index.
struct Output {
  Tones tones;
  size_t reference = 0;
  std::vector<size_t> rivals;
};

struct ColourJudge {
  const char* name;
  std::function<Place(const Tones& tones)> place;
};
std::vector<ColourJudge> colour_judges();

// For each output the number of its rivals that are at least as near as its own reference.
std::vector<size_t> nearer_rivals(const ColourJudge& judge, const std::vector<Output>& outputs,
                                  const std::vector<Tones>& references);

// Shares of outputs, by nearer_rivals().
struct OwnShares {
  double outputs = 0, own = 0, nearest_two = 0;

  explicit OwnShares(const std::vector<size_t>& nearer);
  Json figures() const;
};

}  // namespace hum::bench

// Every figure that a system's clip gets, in one table.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "eval/harness/test_set.h"
#include "eval/metrics/note_score.h"
#include "eval/metrics/pitch_accuracy.h"

namespace hum::eval {

// What a classifier of presets says about a sound.
struct Classification {
  std::vector<float> embedding;
  std::vector<float> logits;  // one a preset that it knows
  int32_t target = -1;        // the requested preset's place; -1: it does not know that one
  bool family = false;        // the likeliest preset is of the requested one's General MIDI family
};
using Classifier =
    std::function<Classification(std::span<const float> samples, const data::Preset& preset)>;

// A language model's teacher-forced logits for the first codebook of the true clip.
struct TokenLogits {
  std::vector<float> logits;  // [frames, classes]
  int64_t classes = 0;
  std::vector<int32_t> targets;
};

// A clip as a system made it.
struct HeardClip {
  const TestClip& clip;
  std::vector<float> samples;  // as long as the truth
  std::optional<Classification> classification = {};
  std::optional<TokenLogits> tokens = {};
  double compute_s = -1;  // how long the system took; negative: it is none that is timed
  // What several figures share; measure() fills it in.
  NoteScore notes = {}, wide_notes = {}, notes_with_ends = {};
  double timbre_distance = 0;  // to the truth
  int64_t nearer_rivals = 0;   // those of the clip's rivals that are as near
  PitchAccuracy pitch = {};
};

enum class Better { kHigher, kLower, kNeither };

struct Metric {
  std::string_view key;   // in JSON
  std::string_view name;  // for people
  std::string_view unit;
  Better better;
  std::string_view what;  // in one sentence, with its source
  // Not a number where it cannot be said.
  double (*measure)(const HeardClip& heard);
};

// In the order that reports show them.
std::span<const Metric> metrics();
// Throws: kFailure for a key that no metric has.
size_t metric_index(std::string_view key);

// One value a metric.
using Figures = std::vector<double>;

Figures measure(HeardClip& heard, const Transcriber& transcribe);

}  // namespace hum::eval

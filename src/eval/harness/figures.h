// The table of all figures of a system's clip.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "eval/harness/test_set.h"
#include "eval/metrics/note_score.h"
#include "eval/metrics/pitch_accuracy.h"
#include "eval/metrics/spectra.h"

namespace hum::eval {

// The output of a preset classifier for a sound.
struct Classification {
  std::vector<float> embedding;
  std::vector<float> logits;  // one per preset that it knows
  int32_t target = -1;        // the requested preset's index; -1: unknown to it
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

// What figures compare of a sound, made once.
struct SoundView {
  Spectra spectra;
  std::vector<int> chroma;  // chroma_classes()
};
// What all sounds of a clip are compared with.
struct ClipView {
  explicit ClipView(const TestClip& clip);
  SoundView truth;
  Timbre audible_timbre;               // of the truth, in kAudibleRange_db
  std::optional<Spectra> heard_truth;  // if there is one
};

// A system's sound of a clip.
struct HeardClip {
  const TestClip& clip;
  std::vector<float> samples;  // as long as the truth
  std::optional<Classification> classification = {};
  std::optional<TokenLogits> tokens = {};
  double compute_s = -1;  // the system's time; negative: it is not timed
  // Values that several figures share; measure() fills them in.
  const ClipView* known = nullptr;
  SoundView view = {};
  NoteScore notes = {}, wide_notes = {}, notes_with_ends = {};
  double timbre_distance = 0;  // to the truth
  int64_t nearer_rivals = 0;   // number of the clip's rivals that are at least as near
  PitchAccuracy pitch = {};
};

enum class Better { kHigher, kLower, kNeither };

struct Metric {
  std::string_view key;   // in JSON
  std::string_view name;  // for display
  std::string_view unit;
  Better better;
  std::string_view what;  // in one sentence, with its source
  // NaN where the figure is undefined.
  double (*measure)(const HeardClip& heard);
};

// All metrics in the order of the reports.
std::span<const Metric> metrics();
// Finds a metric by key. Throws: kFailure for an unknown key.
size_t metric_index(std::string_view key);

// One value per metric.
using Figures = std::vector<double>;

// `known`: of the same clip.
Figures measure(HeardClip& heard, const ClipView& known, const Transcriber& transcribe);

}  // namespace hum::eval

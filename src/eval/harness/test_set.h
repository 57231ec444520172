// What a model is judged on: unseen melodies on seen presets, on presets that no training had, and
// on another sound font; the seven modes in turn. A test set is a function of its options.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "data/synthesis/melody.h"
#include "eval/harness/functions.h"
#include "eval/metrics/timbre.h"

namespace hum::eval {

enum class Split { kSeen, kUnseenPreset, kUnseenFont };
inline constexpr Split kSplits[] = {Split::kSeen, Split::kUnseenPreset, Split::kUnseenFont};
std::string_view split_name(Split split);

struct TestSetOptions {
  int64_t seed = 20261122;  // that no training item and no stored reference has
  int64_t clips = 200;
  double seconds = 6;
};

// How a clip will be made.
struct TestClipPlan {
  Split split = Split::kSeen;
  const data::Preset* preset = nullptr;
  data::Mode mode = data::Mode::kIonian;
  uint64_t melody = 0;  // the melody's index under the seed
};

struct TestSources {
  std::span<const data::Preset*const> seen, unseen;
  // Notes on training's sound font, and on another one; the other may be empty.
  Renderer render, render_other_font;
};

// Splits take turns, then modes, then presets in an order drawn by the seed. A split without
// presets or font has no clips. Throws: kUsage when there are no clips, kFailure without seen
// presets.
std::vector<TestClipPlan> plan_test_set(const TestSetOptions& options, const TestSources& sources);

// All sounds are mono at 22,050 Hz, those of the real instrument at training's level.
struct TestClip {
  TestClipPlan plan;
  std::vector<audio::Note> notes;  // one line, what is asked for
  // Any notes on the real instrument, as long as the truth.
  std::function<std::vector<float>(std::span<const audio::Note> notes)> play_truth;
  std::vector<float> truth;  // the clip's notes
  Timbre true_timbre = {};
  std::vector<float> reference;  // 5 s of another melody
  std::vector<Timbre> rivals;    // the notes on kRivals other presets of the same sound font
  std::vector<float> hum;        // the notes, sung
  int hum_shift_semitones = 0;   // how much higher they are sung
};

inline constexpr double kTestReference_s = 5;
// With the true preset, 20 that a sound's timbre may be nearest to.
inline constexpr size_t kRivals = 19;

TestClip make_test_clip(const TestClipPlan& plan, const TestSetOptions& options,
                        const TestSources& sources);

}  // namespace hum::eval

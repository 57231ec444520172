// The test set of the models: unseen melodies in the seven modes, on seen presets, on presets that
// training did not use, and on another sound font. A test set is a function of its options.
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
  int64_t seed = 20261122;  // not used by training items or stored references
  int64_t clips = 200;
  double seconds = 6;
  double reference_s = 5;  // length of a clip's timbre reference
};

// The plan of a clip.
struct TestClipPlan {
  Split split = Split::kSeen;
  const data::Preset* preset = nullptr;
  data::Mode mode = data::Mode::kIonian;
  uint64_t melody = 0;            // the melody's index under the seed
  double register_semitones = 0;  // from the melody's median pitch to the reference's
};

// A reference is in a melody's register up to this distance.
inline constexpr double kSameRegister_semitones = 6;

struct TestSources {
  std::span<const data::Preset*const> seen, unseen;
  // Play notes on the sound font of training, and on another one, which may be empty.
  Renderer render, render_other_font;
};

// Clips alternate between splits, then modes, then presets in an order drawn from the seed. The
// other font gets a fifth of the clips at most. A split without presets or font has no clips.
// Throws: kUsage when there are no clips, kFailure without seen presets.
std::vector<TestClipPlan> plan_test_set(const TestSetOptions& options, const TestSources& sources);

// All sounds are mono at 22,050 Hz; those of the real instrument are at the level of training.
struct TestClip {
  TestClipPlan plan;
  std::vector<audio::Note> notes;  // the requested melody, one line
  // Plays any notes on the real instrument, as long as the truth.
  std::function<std::vector<float>(std::span<const audio::Note> notes)> play_truth;
  std::vector<float> truth;  // the clip's notes
  Timbre true_timbre = {};
  std::vector<float> reference;  // another melody
  std::vector<Timbre> rivals;    // the notes on kRivals other presets of the same sound font
  std::vector<float> hum;        // the notes, sung
  int hum_shift_semitones = 0;   // the singer's shift upwards
  // The notes that are heard in the hum, on the real instrument; empty: nobody has listened.
  std::vector<float> heard_truth = {};
};

// Together with the true preset there are 20 candidates for the nearest timbre.
inline constexpr size_t kRivals = 19;

// The presets that are a clip's rivals, drawn from the seed and the melody.
std::vector<const data::Preset*> rival_presets(const TestClipPlan& plan,
                                               const TestSetOptions& options,
                                               const TestSources& sources);

TestClip make_test_clip(const TestClipPlan& plan, const TestSetOptions& options,
                        const TestSources& sources);

}  // namespace hum::eval

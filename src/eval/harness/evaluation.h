// Systems on a test set: every figure of every clip of every system.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "audio/dsp.h"
#include "eval/harness/figures.h"

namespace hum::eval {

enum class Role { kSystem, kFloor, kCeiling };
std::string_view role_name(Role role);

struct System {
  std::string name;
  std::string what;  // in one sentence
  Role role = Role::kSystem;
  // Mono at 22,050 Hz; empty when it makes nothing of the clip. Systems are timed, one at a time.
  std::function<std::vector<float>(const TestClip& clip)> play;
  // The system that it is compared with, clip by clip; empty: the first.
  std::string against = {};
  // Of a language model; may be empty.
  std::function<TokenLogits(const TestClip& clip)> tokens = {};
};

struct Judges {
  Transcriber transcribe;  // may be called from several threads
  Classifier classify;     // may be empty
};

struct SystemResult {
  std::string name, what, against;
  Role role = Role::kSystem;
  std::vector<Figures> clips;
  audio::Matrix<float> embeddings;      // a row a clip; empty without a classifier
  audio::Matrix<double> octave_powers;  // mean power of each octave band, a row a clip
};

struct Evaluation {
  std::vector<TestClipPlan> plans;
  std::vector<SystemResult> systems;
};

struct EvaluationCallbacks {
  // After each clip; throws to stop.
  std::function<void(size_t clips_done)> progress;
  // Every clip as a system made it, in order of clips, then systems; may be empty.
  std::function<void(size_t clip_index, const TestClip& clip, const System& system,
                     std::span<const float> samples)>
      heard;
};

// `make` gives clip i. Throws: kFailure without systems or clips.
Evaluation evaluate(std::span<const TestClipPlan> plans,
                    const std::function<TestClip(const TestClipPlan&)>& make,
                    std::span<const System> systems, const Judges& judges,
                    const EvaluationCallbacks& callbacks);

// What no model made and no model may be beaten by: hum copy, sine, excitation alone, copy of the
// reference, wrong melody; and the true rendering.
std::vector<System> floors();
System true_rendering();

}  // namespace hum::eval

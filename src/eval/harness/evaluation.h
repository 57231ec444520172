// Evaluates systems on a test set: every figure of every clip of every system.
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
  // Mono at 22,050 Hz; empty when it has no result for the clip. Systems are timed one at a time.
  std::function<std::vector<float>(const TestClip& clip)> play;
  // The system to compare it with, clip by clip; empty: the first.
  std::string against = {};
  // For a language model; may be empty.
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
  audio::Matrix<float> embeddings;      // one row per clip; empty without a classifier
  audio::Matrix<double> octave_powers;  // mean power of each octave band, one row per clip
};

struct Evaluation {
  std::vector<TestClipPlan> plans;
  std::vector<SystemResult> systems;
};

// What a clip of a system adds to its result.
struct SystemClip {
  Figures figures;
  std::vector<double> octave_powers;
  std::vector<float> embedding;  // empty without a classifier
};
using ClipResults = std::vector<SystemClip>;  // one per system

struct EvaluationCallbacks {
  // Called after each clip; may throw to stop.
  std::function<void(size_t clips_done)> progress;
  // Called with every sound, in order of clips, then systems; may be empty.
  std::function<void(size_t clip_index, const TestClip& clip, const System& system,
                     std::span<const float> samples)>
      heard;
  // Called with the results of every clip that is evaluated; may be empty.
  std::function<void(size_t clip_index, const ClipResults& results)> judged = {};
};

// `make` makes clip i. `known`: results of the first clips, which are not evaluated again.
// Throws: kFailure without systems or clips.
Evaluation evaluate(std::span<const TestClipPlan> plans,
                    const std::function<TestClip(const TestClipPlan&)>& make,
                    std::span<const System> systems, const Judges& judges,
                    const EvaluationCallbacks& callbacks, std::span<const ClipResults> known = {});

// Systems without a model that every model must beat (hum copy, sine, excitation alone, copy of the
// reference, wrong melody), and the true rendering.
std::vector<System> floors();
System true_rendering();

}  // namespace hum::eval

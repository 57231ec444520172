#include "eval/harness/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/threads.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/level.h"
#include "data/synthesis/sine.h"
#include "data/synthesis/timing.h"
#include "eval/harness/instrument_row.h"
#include "eval/metrics/octave_bands.h"

namespace hum::eval {
namespace {

HeardClip play_timed(const System& system, const TestClip& clip) {
  const auto start = std::chrono::steady_clock::now();
  HeardClip heard{.clip = clip, .samples = system.play(clip)};
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (system.role == Role::kSystem) heard.compute_s = took.count();
  if (!std::ranges::all_of(heard.samples, [](float x) { return std::isfinite(x); })) {
    fail(ExitCode::kBadData, fmt::format("'{}' plays samples that are not finite", system.name),
         "HUM_CHECK_NANS=1 names the op that produced the first one");
  }
  if (system.tokens) heard.tokens = system.tokens(clip);
  return heard;
}

template <typename T>
void append_row(audio::Matrix<T>& matrix, const std::vector<T>& row) {
  if (row.empty()) return;
  matrix.columns = std::ssize(row);
  ++matrix.rows;
  matrix.values.insert(matrix.values.end(), row.begin(), row.end());
}

// Judges each system's sound of one clip. Systems play one after another, so that their times do
// not affect each other; judging runs in parallel.
ClipResults evaluate_clip(size_t index, const TestClip& clip, std::span<const System> systems,
                          const Judges& judges, const EvaluationCallbacks& callbacks) {
  std::vector<HeardClip> played;
  for (const System& system : systems) {
    played.push_back(play_timed(system, clip));
    played.back().samples.resize(clip.truth.size());
    if (judges.classify) {
      played.back().classification = judges.classify(played.back().samples, *clip.plan.preset);
    }
    if (callbacks.heard) callbacks.heard(index, clip, system, played.back().samples);
  }
  const ClipView known(clip);
  ClipResults results(systems.size());
  parallel_for(std::ssize(systems), compute_threads(), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    results[at].octave_powers = octave_powers(played[at].samples, data::kSampleRate);
    results[at].figures = measure(played[at], known, judges.transcribe);
  });
  for (size_t i = 0; i < systems.size(); ++i) {
    if (played[i].classification) results[i].embedding = played[i].classification->embedding;
  }
  return results;
}

void append(const ClipResults& clip, Evaluation& evaluation) {
  HUM_REQUIRE(clip.size() == evaluation.systems.size(), "evaluate: a clip of {} systems, not {}",
              clip.size(), evaluation.systems.size());
  for (size_t i = 0; i < clip.size(); ++i) {
    SystemResult& result = evaluation.systems[i];
    result.clips.push_back(clip[i].figures);
    append_row(result.octave_powers, clip[i].octave_powers);
    append_row(result.embeddings, clip[i].embedding);
  }
}

}  // namespace

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kFloor:
      return "floor";
    case Role::kCeiling:
      return "ceiling";
  }
  return {};
}

Evaluation evaluate(std::span<const TestClipPlan> plans,
                    const std::function<TestClip(const TestClipPlan&)>& make,
                    std::span<const System> systems, const Judges& judges,
                    const EvaluationCallbacks& callbacks, std::span<const ClipResults> known) {
  HUM_REQUIRE(!plans.empty() && !systems.empty(), "evaluate: {} clips, {} systems", plans.size(),
              systems.size());
  Evaluation evaluation{.plans = {plans.begin(), plans.end()}};
  for (const System& system : systems) {
    evaluation.systems.push_back(
        {.name = system.name, .what = system.what, .against = system.against, .role = system.role});
  }
  for (const ClipResults& clip : known) append(clip, evaluation);
  if (!known.empty() && callbacks.progress) callbacks.progress(known.size());
  for (size_t i = known.size(); i < plans.size(); ++i) {
    const TestClip clip = make(plans[i]);
    if (i == known.size()) {  // so that no clip's time includes compilation
      for (const System& system : systems) {
        if (system.role == Role::kSystem) system.play(clip);
      }
    }
    const ClipResults results = evaluate_clip(i, clip, systems, judges, callbacks);
    if (callbacks.judged) callbacks.judged(i, results);
    append(results, evaluation);
    if (callbacks.progress) callbacks.progress(i + 1);
  }
  return evaluation;
}

std::vector<System> floors() {
  auto row = [](const char* name, const char* what, auto play) {
    return System{.name = name, .what = what, .role = Role::kFloor, .play = play};
  };
  return {row("hum copy", "the unchanged hum",
              [](const TestClip& clip) { return data::levelled(clip.hum); }),
          row("sine", "the notes as sines",
              [](const TestClip& clip) {
                return data::levelled(data::render_sine(clip.notes, std::ssize(clip.truth)));
              }),
          row("excitation alone", "the guided decoder's unfiltered input",
              [](const TestClip& clip) {
                return data::levelled(data::render_excitation(clip.notes, std::ssize(clip.truth)));
              }),
          row("copy of the reference", "the timbre reference itself",
              [](const TestClip& clip) { return clip.reference; }),
          row("wrong melody", "the true instrument with the pitches in reverse order",
              [](const TestClip& clip) { return clip.play_truth(wrong_notes(clip.notes)); })};
}

System true_rendering() {
  return {.name = "true rendering",
          .what = "the notes on the real instrument",
          .role = Role::kCeiling,
          .play = [](const TestClip& clip) { return clip.truth; }};
}

}  // namespace hum::eval

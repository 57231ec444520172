#include "eval/harness/instrument_row.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/sine.h"
#include "data/synthesis/timing.h"
#include "pipeline/generate.h"

namespace hum::eval {
namespace {

// No octave makes it right.
constexpr int kTritone = 6;

Timbre timbre(std::span<const float> samples) { return timbre_of(samples, data::kSampleRate); }

int64_t length(const InstrumentTask& task) { return static_cast<int64_t>(task.truth.size()); }

}  // namespace

std::vector<std::string> InstrumentRow::failures(const InstrumentLimits& limits) const {
  std::vector<std::string> failed;
  auto require = [&](bool holds, const char* what) {
    if (!holds) failed.emplace_back(what);
  };
  require(kept.chroma >= limits.chroma, "chroma");
  require(kept.f1_sung >= limits.f1, "F1");
  require(distance < nearest_other, "other preset");
  require(distance < limits.timbre_share * hum_distance, "hum");
  require(distance < limits.timbre_share * sine_distance, "sine");
  return failed;
}

InstrumentTask instrument_task(const data::Preset& preset,
                               std::span<const data::Preset* const> others,
                               std::vector<audio::Note> notes, InstrumentSources sources,
                               const Renderer& render) {
  const double seconds = pipeline::end_of(notes) + pipeline::kMaxRelease_s;
  InstrumentTask task{.truth = render(notes, preset, seconds),
                      .wrong_melody = render(wrong_notes(notes), preset, seconds),
                      .hum = std::move(sources.hum),
                      .reference = std::move(sources.reference)};
  for (const data::Preset* other : others) {
    if (other != &preset) task.others.push_back(render(notes, *other, seconds));
  }
  task.notes = std::move(notes);
  return task;
}

InstrumentJudge::InstrumentJudge(InstrumentTask task, Transcriber transcribe)
    : task_(std::move(task)), transcribe_(std::move(transcribe)) {
  HUM_REQUIRE(!task_.notes.empty() && !task_.truth.empty() && !task_.others.empty() &&
                  !task_.reference.empty(),
              "instrument row: needs notes, their rendering, renderings on other presets and a "
              "reference");
  ceiling_ = judge_melody(task_.truth, task_.notes, transcribe_);
  truth_ = timbre(task_.truth);
  for (const auto& other : task_.others) others_.push_back(timbre(other));
  hum_distance_ = timbre_distance(timbre(task_.hum), truth_);
  sine_distance_ = timbre_distance(timbre(data::render_sine(task_.notes, length(task_))), truth_);
}

InstrumentRow InstrumentJudge::judge(std::span<const float> samples) const {
  const Timbre heard = timbre(samples);
  InstrumentRow row{.score = judge_melody(samples, task_.notes, transcribe_),
                    .distance = timbre_distance(heard, truth_),
                    .nearest_other = std::numeric_limits<double>::infinity(),
                    .hum_distance = hum_distance_,
                    .sine_distance = sine_distance_};
  row.kept = of_ceiling(row.score, ceiling_);
  for (const auto& other : others_) {
    row.nearest_other = std::min(row.nearest_other, timbre_distance(heard, other));
  }
  return row;
}

std::vector<NegativeControl> InstrumentJudge::negative_controls() const {
  return {{"hum copy", task_.hum},
          {"sine", data::render_sine(task_.notes, length(task_))},
          {"excitation alone", data::render_excitation(task_.notes, length(task_))},
          {"wrong melody", task_.wrong_melody},
          {"copy of the reference", task_.reference}};
}

std::vector<audio::Note> wrong_notes(std::span<const audio::Note> notes) {
  std::vector<audio::Note> result(notes.begin(), notes.end());
  for (size_t i = 0; i < result.size(); ++i) {
    const auto& other = notes[notes.size() - 1 - i];
    result[i].pitch = other.pitch;
    result[i].bends = other.bends;
  }
  if (std::ranges::equal(result, notes, {}, &audio::Note::pitch, &audio::Note::pitch)) {
    for (audio::Note& note : result) note.pitch += note.pitch < 64 ? kTritone : -kTritone;
  }
  return result;
}

}  // namespace hum::eval

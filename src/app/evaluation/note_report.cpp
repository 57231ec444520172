#include "app/evaluation/note_report.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "audio/io.h"
#include "audio/notes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/names.h"
#include "base/quantile.h"
#include "data/synthesis/fluid.h"
#include "eval/harness/annotation.h"
#include "eval/metrics/note_score.h"
#include "pipeline/generate.h"

namespace hum::app {
namespace {

using eval::PitchedNote;

constexpr double kShortestPlayed_s = 0.05;

void require_not_negative(double value, const char* flag, const char* hint) {
  if (value >= 0) return;
  if (std::isnan(value)) fail(ExitCode::kUsage, fmt::format("{}: nan is not a number", flag), hint);
  fail(ExitCode::kUsage, fmt::format("{} must not be negative", flag), hint);
}

eval::NoteScoreOptions score_options(const NoteReportOptions& options) {
  require_not_negative(options.onset_tolerance_ms, "--onset-tolerance", "mir_eval uses 50 ms");
  require_not_negative(options.pitch_tolerance_cents, "--pitch-tolerance",
                       "mir_eval uses 50 cents");
  require_not_negative(options.offset_ratio, "--offset-ratio",
                       "mir_eval uses 0.2; 0 ignores the ends of notes");
  eval::NoteScoreOptions result{.onset_tolerance_s = options.onset_tolerance_ms / 1000,
                                .pitch_tolerance_cents = options.pitch_tolerance_cents,
                                .best_octave = options.best_octave};
  if (options.offset_ratio > 0) result.offset_ratio = options.offset_ratio;
  return result;
}

// A file of notes. An annotation knows the sung pitch only; its semitone is the nearest.
struct NoteList {
  bool is_annotation = false;
  std::vector<audio::Note> notes;
  std::vector<PitchedNote> sung;
};

NoteList read_list(const std::string& path) {
  if (audio::extension_of(path) == ".csv" &&
      read_file(path).find_first_not_of(" \t\r\n") == std::string::npos) {
    fail(ExitCode::kBadData, path + ": is empty",
         "the rows of an annotation are onset in s, pitch in Hz, duration in s");
  }
  if (!eval::is_annotation(path)) {
    auto notes = audio::read_notes(path);
    auto sung = eval::as_sung(notes);
    return {false, std::move(notes), std::move(sung)};
  }
  NoteList list{true, {}, eval::read_annotation(path)};
  for (const PitchedNote& note : list.sung) {
    const long pitch = std::lround(std::clamp(audio::hz_to_midi(note.hz), 0.0, 127.0));
    list.notes.push_back({.start_s = note.start_s,
                          .end_s = std::max(note.end_s, note.start_s + kShortestPlayed_s),
                          .pitch = static_cast<int>(pitch),
                          .hz = note.hz});
  }
  return list;
}

// The notes that Basic Pitch hears when the preset's samples play `notes`.
std::vector<audio::Note> heard_of_real(const data::Preset& preset,
                                       std::span<const audio::Note> notes) {
  data::FluidRenderer renderer;
  const auto samples =
      renderer.render(notes, preset.program, pipeline::end_of(notes) + pipeline::kMaxRelease_s);
  runtime::Session session(session_options());
  return transcriber(session, {})(samples);
}

// Null if there are none.
Json median_if_any(std::vector<double> values) {
  return values.empty() ? Json() : Json(median(std::move(values)));
}

Json score_report(std::span<const PitchedNote> reference, std::span<const PitchedNote> estimate,
                  const eval::NoteScoreOptions& options) {
  const auto score = eval::score_notes(reference, estimate, options);
  std::vector<double> cents, onsets_ms;
  for (const auto& match : eval::match_notes(reference, estimate, options)) {
    const PitchedNote &known = reference[match.reference], &heard = estimate[match.estimate];
    const double distance = 1200 * std::log2(heard.hz / known.hz);
    cents.push_back(std::abs(distance + 100 * score.octave_shift_semitones));
    onsets_ms.push_back(1000 * std::abs(heard.start_s - known.start_s));
  }
  return {{"precision", score.precision},
          {"recall", score.recall},
          {"f1", score.f1},
          {"matched", score.matched},
          {"estimated_notes", estimate.size()},
          {"octave_shift_semitones", score.octave_shift_semitones},
          {"median_error_cents", median_if_any(std::move(cents))},
          {"median_error_ms", median_if_any(std::move(onsets_ms))}};
}

// The octave in which far more than `matched` notes would match; none if the best one is chosen
// already.
std::optional<int> better_octave(std::span<const PitchedNote> reference,
                                 std::span<const PitchedNote> estimate,
                                 eval::NoteScoreOptions options, int matched) {
  if (options.best_octave) return std::nullopt;
  options.best_octave = true;
  const auto best = eval::score_notes(reference, estimate, options);
  if (best.matched <= 2 * matched) return std::nullopt;
  return best.octave_shift_semitones;
}

}  // namespace

Json note_report(const NoteReportOptions& options) {
  const auto scoring = score_options(options);
  const data::Preset* beside =
      options.beside.empty() ? nullptr : &data::find_preset(options.beside);
  const NoteList reference = read_list(options.reference), estimate = read_list(options.estimate);
  const bool is_by_sung = reference.is_annotation || estimate.is_annotation;
  const auto judged = [&](const NoteList& list) {
    return is_by_sung ? list.sung : eval::as_written(list.notes);
  };
  const auto known = judged(reference), heard = judged(estimate);
  Json report = score_report(known, heard, scoring);
  report["reference_notes"] = known.size();
  if (const auto shift = better_octave(known, heard, scoring, report["matched"])) {
    report["better_octave_semitones"] = *shift;
  }
  report["judged_by"] = is_by_sung ? "sung pitch" : "written pitch";
  if (beside != nullptr) {
    const auto played = heard_of_real(*beside, reference.notes);
    report["beside"] =
        score_report(known, is_by_sung ? eval::as_sung(played) : eval::as_written(played), scoring);
  }
  return report;
}

std::string note_text(const NoteReportOptions& options, const Json& report) {
  const auto real = [&](const char* key) { return report[key].get<double>(); };
  const auto count = [](const Json& value) { return value.get<int64_t>(); };
  const int64_t shift = count(report["octave_shift_semitones"]);
  std::string text = fmt::format(
      "F1 {:.3f}, precision {:.3f}, recall {:.3f}: {} of {} kept ({:g} ms, {:g} cents), {} "
      "heard{}\n",
      real("f1"), real("precision"), real("recall"), count(report["matched"]),
      counted(count(report["reference_notes"]), "note"), options.onset_tolerance_ms,
      options.pitch_tolerance_cents, count(report["estimated_notes"]),
      shift == 0 ? "" : fmt::format(" (moved by {:+d} semitones)", shift));
  if (report["judged_by"] == "sung pitch" && count(report["matched"]) > 0) {
    text +=
        fmt::format("median error of the kept notes: {:.0f} ms, {:.0f} cents of the sung pitch\n",
                    real("median_error_ms"), real("median_error_cents"));
  }
  if (report.contains("better_octave_semitones")) {
    text +=
        fmt::format("many more notes match if they are moved by {:+d} semitones: --best-octave\n",
                    count(report["better_octave_semitones"]));
  }
  if (!report.contains("beside")) return text;
  return text + fmt::format(
                    "{} of the melody's {} can be heard in the result. A real {}, recorded note by "
                    "note, keeps {} of them.\n",
                    count(report["matched"]), counted(count(report["reference_notes"]), "note"),
                    data::find_preset(options.beside).name, count(report["beside"]["matched"]));
}

}  // namespace hum::app

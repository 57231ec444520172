#include "app/evaluation/note_report.h"

#include <span>
#include <vector>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "audio/notes.h"
#include "base/error.h"
#include "base/names.h"
#include "data/synthesis/fluid.h"
#include "eval/metrics/note_score.h"
#include "pipeline/generate.h"

namespace hum::app {
namespace {

eval::NoteScoreOptions score_options(const NoteReportOptions& options) {
  if (!(options.onset_tolerance_ms >= 0)) {
    fail(ExitCode::kUsage, "--onset-tolerance must not be negative",
         "mir_eval uses 50 ms");
  }
  if (!(options.pitch_tolerance_cents >= 0)) {
    fail(ExitCode::kUsage, "--pitch-tolerance must not be negative",
         "mir_eval uses 50 cents");
  }
  if (!(options.offset_ratio >= 0)) {
    fail(ExitCode::kUsage, "--offset-ratio must not be negative",
         "mir_eval uses 0.2; 0 ignores the ends of notes");
  }
  eval::NoteScoreOptions result{.onset_tolerance_s = options.onset_tolerance_ms / 1000,
                                .pitch_tolerance_cents = options.pitch_tolerance_cents,
                                .best_octave = options.best_octave};
  if (options.offset_ratio > 0) result.offset_ratio = options.offset_ratio;
  return result;
}

// The notes that Basic Pitch hears when the preset's samples play `notes`.
std::vector<audio::Note> heard_of_real(const data::Preset& preset,
                                       std::span<const audio::Note> notes) {
  data::FluidRenderer renderer;
  const auto samples =
      renderer.render(notes, preset.program, pipeline::end_of(notes) + pipeline::kMaxRelease_s);
  runtime::Session session(session_options());
  return transcriber(session, {})(samples).notes;
}

Json score_report(const eval::NoteScore& score, size_t heard) {
  return {{"precision", score.precision},
          {"recall", score.recall},
          {"f1", score.f1},
          {"matched", score.matched},
          {"estimated_notes", heard},
          {"octave_shift_semitones", score.octave_shift_semitones}};
}

}  // namespace

Json note_report(const NoteReportOptions& options) {
  const auto scoring = score_options(options);
  const data::Preset* beside =
      options.beside.empty() ? nullptr : &data::find_preset(options.beside);
  const auto reference = audio::read_notes(options.reference);
  const auto estimate = audio::read_notes(options.estimate);
  Json report = score_report(eval::score_notes(reference, estimate, scoring), estimate.size());
  report["reference_notes"] = reference.size();
  if (beside != nullptr) {
    const auto heard = heard_of_real(*beside, reference);
    report["beside"] = score_report(eval::score_notes(reference, heard, scoring), heard.size());
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
      options.pitch_tolerance_cents,
      count(report["estimated_notes"]),
      shift == 0 ? "" : fmt::format(" (moved by {:+d} semitones)", shift));
  if (!report.contains("beside")) return text;
  return text +
         fmt::format(
             "{} of the melody's {} can be heard in the result. A real {}, recorded note by "
             "note, keeps {} of them.\n",
             count(report["matched"]), counted(count(report["reference_notes"]), "note"),
             data::find_preset(options.beside).name, count(report["beside"]["matched"]));
}

}  // namespace hum::app

// hum evaluate notes: precision, recall and F1 of one list of notes against another, and of what is
// heard of the real instrument that plays the first.
#include <iostream>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "data/synthesis/fluid.h"
#include "eval/metrics/note_score.h"
#include "pipeline/generate.h"

namespace hum::cli {
namespace {

struct Args {
  std::string reference, estimate, beside;
  double onset_tolerance_ms = 50;
  double pitch_tolerance_cents = 50;
  double offset_ratio = 0;
  bool best_octave = false, json = false;
  template <class V>
  void declare(V& v) {
    v.positional("reference", reference, "the true notes: .mid, .csv or .json");
    v.positional("estimate", estimate, "the notes to judge: .mid, .csv or .json");
    v("onset_tolerance", onset_tolerance_ms, "milliseconds that an onset may be off");
    v("pitch_tolerance", pitch_tolerance_cents, "cents that a pitch may be off");
    v("offset_ratio", offset_ratio,
      "also judge ends, within this share of the note (mir_eval: 0.2; 0: ends do not count)");
    v("best_octave", best_octave, "judge the estimate in the octave that fits best");
    v("beside", beside,
      "also judge what Basic Pitch hears of the true notes on the real instrument: a preset");
    v("json", json, "print JSON");
  }
};

eval::NoteScoreOptions options_of(const Args& args) {
  if (!(args.onset_tolerance_ms >= 0)) {
    fail(ExitCode::kUsage, "--onset-tolerance must not be negative");
  }
  if (!(args.pitch_tolerance_cents >= 0)) {
    fail(ExitCode::kUsage, "--pitch-tolerance must not be negative");
  }
  if (!(args.offset_ratio >= 0)) fail(ExitCode::kUsage, "--offset-ratio must not be negative");
  eval::NoteScoreOptions options{.onset_tolerance_s = args.onset_tolerance_ms / 1000,
                                 .pitch_tolerance_cents = args.pitch_tolerance_cents,
                                 .best_octave = args.best_octave};
  if (args.offset_ratio > 0) options.offset_ratio = args.offset_ratio;
  return options;
}

// What Basic Pitch hears when the preset's samples play the notes.
std::vector<audio::Note> heard_of_real(const data::Preset& preset,
                                       std::span<const audio::Note> notes) {
  data::FluidRenderer renderer;
  const auto samples =
      renderer.render(notes, preset.program, pipeline::end_of(notes) + pipeline::kMaxRelease_s);
  runtime::Session session(app::session_options());
  return app::transcriber(session, {})(samples).notes;
}

Json to_json(const eval::NoteScore& score, size_t heard) {
  return {{"precision", score.precision},
          {"recall", score.recall},
          {"f1", score.f1},
          {"matched", score.matched},
          {"estimated_notes", heard},
          {"octave_shift_semitones", score.octave_shift_semitones}};
}

std::string text_of(const Args& args, const eval::NoteScore& score, size_t notes, size_t heard) {
  const std::string moved =
      score.octave_shift_semitones == 0
          ? ""
          : fmt::format(" (moved by {:+d} semitones)", score.octave_shift_semitones);
  return fmt::format(
      "F1 {:.3f}, precision {:.3f}, recall {:.3f}: {} of {} notes kept ({:g} ms, {:g} cents), {} "
      "heard{}\n",
      score.f1, score.precision, score.recall, score.matched, notes, args.onset_tolerance_ms,
      args.pitch_tolerance_cents, heard, moved);
}

int run(Args& args) {
  const auto options = options_of(args);
  const data::Preset* beside = args.beside.empty() ? nullptr : &data::find_preset(args.beside);
  const auto reference = audio::read_notes(args.reference);
  const auto estimate = audio::read_notes(args.estimate);
  const auto score = eval::score_notes(reference, estimate, options);
  Json result = to_json(score, estimate.size());
  result["reference_notes"] = reference.size();
  std::string text = text_of(args, score, reference.size(), estimate.size());
  if (beside != nullptr) {
    const auto heard = heard_of_real(*beside, reference);
    const auto real = eval::score_notes(reference, heard, options);
    result["beside"] = to_json(real, heard.size());
    text += fmt::format(
        "Of the melody's {} notes, {} are heard again; of a real {} that plays the same melody, "
        "{}.\n",
        reference.size(), score.matched, beside->name, real.matched);
  }
  if (args.json) {
    print_json(result);
  } else {
    std::cout << text;
  }
  return 0;
}

}  // namespace

const Command kEvaluateNotes = {"evaluate notes", "how many notes of A are also in B",
                                "hum evaluate notes melody.mid heard.mid --onset-tolerance 100",
                                make_command<Args, run>};

}  // namespace hum::cli

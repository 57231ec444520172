// hum evaluate notes: precision, recall and F1 of one list of notes against another.
#include <iostream>

#include "base/json.h"
#include "cli/commands/commands.h"
#include "eval/metrics/note_score.h"

namespace hum::cli {
namespace {

struct Args {
  std::string reference, estimate;
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

int run(Args& args) {
  const auto options = options_of(args);
  const auto reference = audio::read_notes(args.reference);
  const auto estimate = audio::read_notes(args.estimate);
  const auto score = eval::score_notes(reference, estimate, options);
  if (args.json) {
    const Json result = {{"precision", score.precision},
                         {"recall", score.recall},
                         {"f1", score.f1},
                         {"matched", score.matched},
                         {"reference_notes", reference.size()},
                         {"estimated_notes", estimate.size()},
                         {"octave_shift_semitones", score.octave_shift_semitones}};
    print_json(result);
    return 0;
  }
  std::cout << fmt::format(
      "F1 {:.3f}, precision {:.3f}, recall {:.3f}: {} of {} notes kept ({:g} ms, {:g} cents), {} "
      "heard",
      score.f1, score.precision, score.recall, score.matched, reference.size(),
      args.onset_tolerance_ms, args.pitch_tolerance_cents, estimate.size());
  if (score.octave_shift_semitones != 0) {
    std::cout << fmt::format(" (moved by {:+d} semitones)", score.octave_shift_semitones);
  }
  std::cout << '\n';
  return 0;
}

}  // namespace

const Command kEvaluateNotes = {"evaluate notes", "how many notes of A are also in B",
                                "hum evaluate notes melody.mid heard.mid --onset-tolerance 100",
                                make_command<Args, run>};

}  // namespace hum::cli

// hum evaluate notes: precision, recall and F1 of one list of notes against another, and of what
// Basic Pitch hears when a real instrument plays the reference.
#include <iostream>

#include "app/evaluation/note_report.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  app::NoteReportOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("reference", options.reference,
                 "the true notes: .mid, .csv, .json, or rows of onset s, Hz, duration s");
    v.positional("estimate", options.estimate, "the notes to judge: one of the same formats");
    v("onset_tolerance", options.onset_tolerance_ms, "largest onset error of a match, in ms");
    v("pitch_tolerance", options.pitch_tolerance_cents, "largest pitch error of a match, in cents");
    v("offset_ratio", options.offset_ratio,
      "largest error of a note's end, as a share of its length (mir_eval: 0.2; 0: ignore ends)");
    v("best_octave", options.best_octave, "shift the estimate to the octave that matches best");
    v("beside", options.beside,
      "preset: also judge what Basic Pitch hears when it plays the reference notes");
    v("json", json, "print JSON");
  }
};

int run(Args& args) {
  const Json report = app::note_report(args.options);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::note_text(args.options, report);
  }
  return 0;
}

}  // namespace

const Command kEvaluateNotes = {
    "evaluate notes", "precision and recall of one list of notes against another",
    "hum evaluate notes melody.mid heard.mid --onset-tolerance 100", make_command<Args, run>};

}  // namespace hum::cli

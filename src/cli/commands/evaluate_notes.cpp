// hum evaluate notes: precision, recall and F1 of one list of notes against another, and of what is
// heard of the real instrument that plays the first.
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
    v.positional("reference", options.reference, "the true notes: .mid, .csv or .json");
    v.positional("estimate", options.estimate, "the notes to judge: .mid, .csv or .json");
    v("onset_tolerance", options.onset_tolerance_ms, "milliseconds that an onset may be off");
    v("pitch_tolerance", options.pitch_tolerance_cents, "cents that a pitch may be off");
    v("offset_ratio", options.offset_ratio,
      "also judge ends, within this share of the note (mir_eval: 0.2; 0: ends do not count)");
    v("best_octave", options.best_octave, "judge the estimate in the octave that fits best");
    v("beside", options.beside,
      "also judge what Basic Pitch hears of the true notes on the real instrument: a preset");
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

const Command kEvaluateNotes = {"evaluate notes", "how many notes of A are also in B",
                                "hum evaluate notes melody.mid heard.mid --onset-tolerance 100",
                                make_command<Args, run>};

}  // namespace hum::cli

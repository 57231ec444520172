// hum notes: finds a recording's notes.
#include <iostream>

#include "app/play/transcribe.h"
#include "base/json.h"
#include "base/process.h"
#include "cli/commands/commands.h"
#include "pipeline/score.h"

namespace hum::cli {
namespace {

struct Args {
  app::TranscribeOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("input", options.input,
                 "a recording: wav, flac, ogg, mp3, m4a or webm; - reads stdin");
    v.short_flag('o', "output", options.output,
                 "file to write: .mid, .csv or .json; - for stdout (default: print a table)");
    v("format", options.format, "file format of the notes, if -o is -");
    options.score.visit_fields(v);
    options.notes.visit_fields(v);
    v("voice", options.voice,
      "hear one voice, as hum generate does: one line, in tune, exact onsets");
    v.old_switch("clean_up", options.voice);
    v("weights", options.weights,
      "folder of released weights, for --voice (default: HUM_WEIGHTS, else weights/)");
    v("max_seconds", options.max_seconds, "longest recording to accept, in seconds");
    v("json", json, "print the notes, tempo and key as JSON");
    v.group("Time and key", {"tempo", "snap", "grid", "swing", "key", "correct"});
    v.group("Basic Pitch",
            {"onset_threshold", "frame_threshold", "minimum_note_length", "minimum_frequency",
             "maximum_frequency", "melodia", "infer_onsets", "multiple_pitch_bends"});
  }
};

int run(Args& args) {
  require_one_on_stdout("-o -", args.options.output == kStandardStream, args.json);
  pipeline::require_snap_for_grid(args.options.score);
  const auto transcribed = app::transcribe(args.options);
  if (args.json) print_json(app::transcription_report(args.options, transcribed));
  if (!args.options.output.empty()) {
    std::cerr << app::transcription_summary(args.options.output, transcribed);
  } else if (!args.json) {
    std::cout << app::notes_text(transcribed.score);
  }
  return 0;
}

}  // namespace

const Command kNotes = {"notes", "find the notes of a recording (.mid, .csv, .json)",
                        "hum notes examples/vocadito_10.wav -o melody.mid",
                        make_command<Args, run>};

}  // namespace hum::cli

// hum notes: finds a recording's notes with Basic Pitch.
#include <iostream>

#include "app/play/transcribe.h"
#include "cli/commands/commands.h"

namespace hum::cli {
namespace {

struct Args {
  app::TranscribeOptions options;
  template <class V>
  void declare(V& v) {
    v.positional("input", options.input, "a recording: wav, flac, ogg or mp3");
    v.short_flag('o', "output", options.output,
                 "file to write: .mid, .csv or .json (default: print a table)");
    options.notes.visit_fields(v);
    options.score.visit_fields(v);
    v("clean_up", options.clean_up,
      "clean up as hum generate does for a voice: one line, in tune, exact onsets");
    v("max_seconds", options.max_seconds, "longest recording to accept, in seconds");
  }
};

int run(Args& args) {
  const auto transcribed = app::transcribe(args.options);
  if (args.options.output.empty()) {
    std::cout << app::notes_text(transcribed.score);
  } else {
    std::cerr << app::transcription_summary(args.options.output, transcribed);
  }
  return 0;
}

}  // namespace

const Command kNotes = {"notes", "find the notes of a recording (.mid, .csv, .json)",
                        "hum notes examples/vocadito_10.wav -o melody.mid",
                        make_command<Args, run>};

}  // namespace hum::cli

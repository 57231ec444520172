// hum notes: a recording's notes, by Basic Pitch.
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
                 "notes to write: .mid, .csv or .json; without it they are listed");
    options.notes.visit_fields(v);
    options.score.visit_fields(v);
    v("clean_up", options.clean_up,
      "the melody as hum generate reads it from a voice: one line in tune, exact onsets");
    v("max_seconds", options.max_seconds, "longest recording to accept");
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

const Command kNotes = {"notes", "write the notes of a recording (.mid, .csv, .json)",
                        "hum notes examples/vocadito_10.wav -o melody.mid",
                        make_command<Args, run>};

}  // namespace hum::cli

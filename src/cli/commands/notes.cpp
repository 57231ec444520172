// hum notes: a recording's notes, by Basic Pitch.
#include <iostream>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "base/log.h"
#include "cli/commands/commands.h"
#include "pipeline/hum_melody.h"
#include "pipeline/recording.h"
#include "pipeline/score.h"

namespace hum::cli {
namespace {

struct Args {
  std::string input, output;
  models::basic_pitch::NoteOptions notes;
  pipeline::ScoreOptions score;
  bool clean_up = false;
  double max_seconds = audio::kDefaultMaxSeconds;
  template <class V>
  void declare(V& v) {
    v.positional("input", input, "a recording: wav, flac, ogg or mp3");
    v.short_flag('o', "output", output,
                 "notes to write: .mid, .csv or .json; without it they are listed");
    notes.visit_fields(v);
    score.visit_fields(v);
    v("clean_up", clean_up,
      "the melody as hum generate reads it from a voice: one line in tune, exact onsets");
    v("max_seconds", max_seconds, "longest recording to accept");
  }
};

void list(const std::vector<audio::Note>& notes) {
  std::cout << "start s    end s  pitch  amplitude\n";
  for (const auto& note : notes) {
    std::cout << fmt::format("{:7.3f}  {:7.3f}  {:5d}  {:9.3f}\n", note.start_s, note.end_s,
                             note.pitch, note.amplitude);
  }
}

std::vector<audio::Note> notes_of(const pipeline::Recording& recording, const Args& args,
                                  runtime::Session& session) {
  const auto transcribe = app::transcriber(session, args.notes);
  if (!args.clean_up) return transcribe(recording.samples).notes;
  auto melody = pipeline::read_melody(recording.samples, transcribe, {}, std::nullopt);
  for (const auto& warning : melody.warnings) spdlog::warn("{}: {}", args.input, warning);
  return std::move(melody.notes);
}

int run(Args& args) {
  models::basic_pitch::validate(args.notes);
  pipeline::validate(args.score);
  const auto recording = pipeline::read_recording(args.input, args.max_seconds);
  if (!args.output.empty()) {
    pipeline::require_output(args.output, {".mid", ".midi", ".csv", ".json"});
  }
  for (const auto& warning : recording.warnings) spdlog::warn("{}: {}", args.input, warning);
  runtime::Session session(app::session_options());
  auto notes = notes_of(recording, args, session);
  if (notes.empty()) {
    fail(ExitCode::kBadData, args.input + ": no notes were found",
         "sing or play closer to the microphone, or lower --onset-threshold and --frame-threshold");
  }
  const auto score = pipeline::make_score(std::move(notes), args.score);
  for (const auto& warning : score.warnings) spdlog::warn("{}: {}", args.input, warning);
  if (args.output.empty()) {
    list(score.notes);
    return 0;
  }
  audio::write_notes(args.output, score.notes,
                     {.tempo_bpm = score.tempo_bpm(),
                      .first_beat_s = score.first_beat_s(),
                      .multiple_pitch_bends = args.notes.multiple_pitch_bends});
  std::cerr << fmt::format(
      "{}: {} notes in {:.1f} s, {}, {}\n", args.output, score.notes.size(), recording.seconds,
      score.tempo ? fmt::format("{:.0f} beats a minute", score.tempo->bpm) : "no steady tempo",
      pipeline::key_name(score.heard_key.key));
  return 0;
}

}  // namespace

const Command kNotes = {"notes", "write the notes of a recording (.mid, .csv, .json)",
                        "hum notes examples/vocadito_10.wav -o melody.mid",
                        make_command<Args, run>};

}  // namespace hum::cli

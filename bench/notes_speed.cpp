// notes-speed: a recording's notes against basic-pitch with its ONNX model. Timed on both sides:
// reading a wav of 44.1 kHz, resampling, network, note creation; not timed: start, loading,
// compiling, a first call.
#include <chrono>
#include <iostream>

#include "app/session_options.h"
#include "base/error.h"
#include "base/threads.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/peers.h"
#include "bench/program.h"
#include "eval/metrics/note_score.h"
#include "models/basic_pitch/transcriber.h"
#include "pipeline/recording.h"

namespace hum::bench {
namespace {

constexpr double kSeconds = 60, kLimit = 1.5;
constexpr int kRounds = 5, kRunsPerRound = 3;
// The sides resample each in its own way, so that a note at a threshold may differ.
constexpr double kLeastF1 = 0.98;

// The example over and over, up to kSeconds.
void write_long_recording(const std::string& path) {
  audio::AudioBuffer sound = audio::read_audio(example_recording());
  const std::vector<float> once = sound.samples;
  const auto wanted = static_cast<size_t>(kSeconds * sound.rate_hz * sound.channels);
  while (sound.samples.size() < wanted) {
    sound.samples.insert(sound.samples.end(), once.begin(), once.end());
  }
  sound.samples.resize(wanted);
  audio::write_audio(path, sound);
}

std::vector<audio::Note> to_notes(const Json& rows) {
  std::vector<audio::Note> notes;
  for (const Json& row : rows) {
    audio::Note note;
    note.start_s = row[0];
    note.end_s = row[1];
    note.pitch = row[2];
    notes.push_back(note);
  }
  return notes;
}

// What `hum notes` does between reading and writing its files, timed as the peer's script does it.
Json time_hum(const models::basic_pitch::Transcriber& model, const std::string& recording) {
  Json milliseconds = Json::array(), rows = Json::array();
  for (int run = 0; run < kRunsPerRound; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto notes = model.notes(pipeline::read_recording(recording).samples);
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
    rows = Json::array();
    for (const auto& note : notes) rows.push_back({note.start_s, note.end_s, note.pitch});
  }
  return {{"milliseconds", milliseconds}, {"notes", rows}};
}

double run_ms(const std::vector<Json>& rounds) {
  std::vector<double> medians;
  for (const Json& round : rounds) {
    medians.push_back(median(round["milliseconds"].get<std::vector<double>>()));
  }
  return median(medians);
}

}  // namespace

eval::Bar notes_speed() {
  const ScratchFolder folder;
  const std::string recording = folder / "long.wav";
  write_long_recording(recording);
  runtime::Session session(app::session_options());
  const models::basic_pitch::Transcriber model(session);
  model.notes(pipeline::read_recording(recording).samples);
  auto peer = peer_command("notes_basic_pitch.py", "peers-notes");
  for (const auto& word : {recording, std::string("--runs"), std::to_string(kRunsPerRound),
                           std::string("--threads"), std::to_string(compute_threads())}) {
    peer.push_back(word);
  }
  const auto results =
      alternate({{"hum", [&] { return time_hum(model, recording); }},
                 {"basic-pitch", [&] { return last_line_json(run_program(peer).out); }}},
                kRounds);
  const auto& ours = results.at("hum");
  const auto& theirs = results.at("basic-pitch");
  const double ms = run_ms(ours), peer_ms = run_ms(theirs);
  const Json &notes = ours[0]["notes"], &peer_notes = theirs[0]["notes"];
  eval::Bar bar{.name = "notes-speed",
                .value = peer_ms / ms,
                .unit = "x basic-pitch (ONNX runtime)",
                .bar = fmt::format(">= {} x on {} s of sound; the same notes: F1 >= {} (50 ms, 50 "
                                   "cents)",
                                   kLimit, kSeconds, kLeastF1)};
  bar.checks.at_least("speed", peer_ms / ms, kLimit);
  bar.checks.at_least("f1", eval::score_notes(to_notes(peer_notes), to_notes(notes)).f1, kLeastF1);
  bar.ours["hum"] = {{"ms", ms}, {"notes", notes.size()}};
  bar.peer["basic-pitch"] = {
      {"ms", peer_ms}, {"notes", peer_notes.size()}, {"version", theirs[0]["version"]}};
  eval::TextTable table({"", "ms", "notes"});
  table.row({"hum", fmt::format("{:.0f}", ms), std::to_string(notes.size())});
  table.row({"basic-pitch", fmt::format("{:.0f}", peer_ms), std::to_string(peer_notes.size())});
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench

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

constexpr double kSeconds = 60, kSmokeSeconds = 4, kLimit = 1.5;
constexpr int kRunsPerRound = 3, kSmokeRunsPerRound = 1;
// The sides resample each in its own way, so that a note at a threshold may differ.
constexpr double kLeastF1 = 0.98;

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
Json time_hum(const models::basic_pitch::Transcriber& model, const std::string& recording,
              int runs) {
  Json milliseconds = Json::array(), rows = Json::array();
  for (int run = 0; run < runs; ++run) {
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

void compare(eval::Bar& bar, const std::vector<Json>& ours, const std::vector<Json>& theirs) {
  const double speed = run_ms(theirs) / run_ms(ours);
  const Json &notes = ours[0]["notes"], &peer_notes = theirs[0]["notes"];
  bar.value = speed;
  bar.checks.at_least("speed", speed, kLimit);
  bar.checks.at_least("f1", eval::score_notes(to_notes(peer_notes), to_notes(notes)).f1, kLeastF1);
  bar.peer["basic-pitch"] = {
      {"ms", run_ms(theirs)}, {"notes", peer_notes.size()}, {"version", theirs[0]["version"]}};
}

}  // namespace

eval::Bar notes_speed(const Scale& scale) {
  const double seconds = scale.smoke ? kSmokeSeconds : kSeconds;
  const int runs = scale.smoke ? kSmokeRunsPerRound : kRunsPerRound;
  const ScratchFolder folder;
  const std::string recording = folder / "long.wav";
  write_example(recording, seconds);
  runtime::Session session(app::session_options());
  const models::basic_pitch::Transcriber model(session);
  model.notes(pipeline::read_recording(recording).samples);
  const std::string peer_folder = "peers-notes";
  auto peer = peer_command("notes_basic_pitch.py", peer_folder);
  for (const auto& word : {recording, std::string("--runs"), std::to_string(runs),
                           std::string("--threads"), std::to_string(compute_threads())}) {
    peer.push_back(word);
  }
  const auto results = alternate(
      {{"hum", [&] { return time_hum(model, recording, runs); }},
       {"basic-pitch", [&] { return last_line_json(run_program(peer).out); }, peer_folder}},
      scale);
  eval::Bar bar{.name = "notes-speed",
                .unit = "x basic-pitch (ONNX runtime)",
                .bar = fmt::format(">= {} x on {} s of sound; the same notes: F1 >= {} (50 ms, 50 "
                                   "cents)",
                                   kLimit, seconds, kLeastF1)};
  eval::TextTable table({"", "ms", "notes"});
  for (const auto& [name, rounds] : results) {
    table.row(
        {name, fmt::format("{:.0f}", run_ms(rounds)), std::to_string(rounds[0]["notes"].size())});
  }
  std::cerr << table.text();
  const auto& ours = results.at("hum");
  bar.ours["hum"] = {{"ms", run_ms(ours)}, {"notes", ours[0]["notes"].size()}};
  if (results.contains("basic-pitch")) compare(bar, ours, results.at("basic-pitch"));
  return bar;
}

}  // namespace hum::bench

// notes-speed: time to find a recording's notes, against basic-pitch with its ONNX model. Timed on
// both sides: reading a 44.1 kHz wav, resampling, network, notes with their bends, writing MIDI.
// Not timed: process start, loading, compiling, a first call.
#include <chrono>

#include "app/session_options.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/peer_settings.h"
#include "bench/peers.h"
#include "bench/program.h"
#include "decode/read.h"
#include "eval/metrics/note_score.h"
#include "models/basic_pitch/transcriber.h"

namespace hum::bench {
namespace {

constexpr double kSeconds = 60, kSmokeSeconds = 4, kLimit = 1.5;
constexpr int kRunsPerRound = 3, kSmokeRunsPerRound = 1;
// The two sides resample differently, so notes near a threshold may differ.
constexpr double kLeastF1 = 0.98;

// From the recording to a MIDI file, timed as the peer's script does it.
Json time_hum(const models::basic_pitch::Transcriber& model, const std::string& recording,
              const std::string& midi, int runs) {
  Json milliseconds = Json::array();
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    audio::write_notes(midi, model.notes(decode::read_recording(recording).samples));
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    milliseconds.push_back(spent.count());
  }
  return {{"milliseconds", milliseconds}};
}

}  // namespace

eval::Bar notes_speed(const Scale& scale) {
  const double seconds = scale.smoke ? kSmokeSeconds : kSeconds;
  const int runs = scale.smoke ? kSmokeRunsPerRound : kRunsPerRound;
  const ScratchFolder folder;
  const std::string recording = folder / "long.wav";
  const std::string midi = folder / "hum.mid", peer_midi = folder / "peer.mid";
  write_example(recording, seconds);
  runtime::Session session(app::session_options());
  const models::basic_pitch::Transcriber model(session);
  time_hum(model, recording, midi, 1);
  std::vector<Contender> contenders = {
      {"hum", "", [&] { return time_hum(model, recording, midi, runs); }}};
  for (const PeerSetting& setting : allocator_settings()) {
    const auto run = [&, setting] {
      return run_peer("notes_basic_pitch.py",
                      {recording, peer_midi, "--runs", std::to_string(runs)}, setting, kPeersNotes);
    };
    contenders.push_back({"basic-pitch", setting.name, run, kPeersNotes});
  }
  const auto outcomes = alternate(contenders, scale);
  eval::Bar bar{.name = "notes-speed",
                .unit = "x basic-pitch (ONNX runtime)",
                .bar = fmt::format(">= {} x on {} s of sound; same notes in the MIDI files: F1 "
                                   ">= {} (50 ms, 50 cents)",
                                   kLimit, seconds, kLeastF1)};
  report(bar, outcomes);
  const auto notes = audio::read_notes(midi);
  bar.ours["notes"] = notes.size();
  const Outcome* theirs = fastest(outcomes, "basic-pitch");
  if (theirs == nullptr) return bar;
  const auto peer_notes = audio::read_notes(peer_midi);
  bar.value = theirs->ms / outcomes[0].ms;
  bar.checks.at_least("speed", theirs->ms / outcomes[0].ms, kLimit);
  bar.checks.at_least("f1", eval::score_notes(peer_notes, notes).f1, kLeastF1);
  bar.peer["notes"] = peer_notes.size();
  bar.peer["fastest"] = theirs->name();
  bar.peer["version"] = theirs->rounds[0]["version"];
  return bar;
}

}  // namespace hum::bench

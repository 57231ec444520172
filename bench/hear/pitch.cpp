// hear-pitch: the pitch that hum hears, frame by frame, by the rules of mir_eval.melody. Against a
// pitch curve that people corrected, and, in all recordings, against what two of three other
// trackers agree on. It is the f0 and the voicing of the ear, not that of notes.
#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/hear/recordings.h"
#include "bench/peer_settings.h"
#include "bench/peers.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "eval/harness/annotation.h"
#include "eval/harness/bar.h"

namespace hum::bench {
namespace {

using eval::MelodyScore;
using eval::MelodyTrack;

constexpr const char *kCurveOf = "vocadito_1", *kAllRecordings = "all recordings";
constexpr const char *kCurve = "pitch curve", *kTrackersAgree = "two trackers";
constexpr double kLeastPitch = 0.98, kLeastRecall = 0.95, kMaxFalseAlarm = 0.08;
constexpr double kLeastMeanPitch = 0.97, kLeastOnePitch = 0.92, kMaxFalseAlarmInAll = 0.10;
constexpr double kFrame_s = 0.010;
constexpr double kSmokeSeconds = 6;

// The trackers' confidences are probabilities: of a voiced frame (swift-f0 is calibrated for this
// threshold, PESTO has a classifier), or of the pitch that was found (torchcrepe). At even odds all
// three come near the corrected curve, whose figures stand beside hum's.
constexpr const char* kTrackers[] = {"swift-f0", "pesto-pitch", "torchcrepe"};
constexpr double kVoicedFrom = 0.5;

struct Recordings {
  std::vector<std::string> names;
  std::vector<hear::Sound> sounds;
  size_t with_curve = 0;
  MelodyTrack curve;
};

Recordings read_recordings(bool smoke) {
  const auto folder = hear::voices_folder() / "vocadito";
  Recordings recordings;
  recordings.curve = eval::read_pitch_curve(folder / fmt::format("{}_f0.csv", kCurveOf));
  for (const auto& path : hear::all_recordings()) {
    const bool has_curve = path.stem() == kCurveOf;
    if (smoke && !has_curve) continue;
    if (has_curve) recordings.with_curve = recordings.sounds.size();
    recordings.names.push_back(path.stem().string());
    recordings.sounds.push_back(hear::read_sound(path));
    if (!smoke) continue;
    recordings.sounds.back().resize(static_cast<size_t>(data::sample_of(kSmokeSeconds)));
    MelodyTrack& curve = recordings.curve;
    const auto end = std::ranges::lower_bound(curve.time_s, kSmokeSeconds);
    curve = eval::resampled(curve, std::span(curve.time_s.begin(), end));
  }
  return recordings;
}

struct Tracks {
  std::string name;
  std::vector<MelodyTrack> of;  // each recording
};

// Of the sounds at hum's common level, because some trackers know an absolute level of silence.
std::vector<Tracks> peer_tracks(std::span<const hear::Sound> sounds) {
  std::vector<hear::Sound> levelled;
  for (const auto& sound : sounds) levelled.push_back(data::levelled(sound));
  const ScratchFolder folder;
  const Json heard =
      run_peer("pitch_tracks.py", hear::write_sounds(levelled, folder), {}, kPeersPitch);
  std::vector<Tracks> all;
  for (const char* tracker : kTrackers) {
    all.push_back({tracker, {}});
    for (const Json& frames : heard.at("tracks").at(tracker)) {
      const auto time_s = frames.at("time").get<std::vector<double>>();
      const auto hz = frames.at("hz").get<std::vector<double>>();
      const auto confidence = frames.at("confidence").get<std::vector<double>>();
      HUM_CHECK(time_s.size() == hz.size() && time_s.size() == confidence.size());
      MelodyTrack& track = all.back().of.emplace_back();
      for (size_t t = 0; t < hz.size(); ++t) {
        track.add(time_s[t], hz[t], confidence[t] >= kVoicedFrom);
      }
    }
    HUM_CHECK(all.back().of.size() == sounds.size());
  }
  return all;
}

Json figures_of(double pitch, const eval::Voicing& voicing) {
  return {{"pitch", pitch}, {"recall", voicing.recall()}, {"false alarm", voicing.false_alarm()}};
}

class Table {
 public:
  void row(const std::string& recording, const std::string& against, const std::string& listener,
           double pitch, const eval::Voicing& voicing) {
    table_.row({recording, against, listener, std::to_string(voicing.voiced + voicing.unvoiced),
                fmt::format("{:.3f}", pitch), fmt::format("{:.3f}", voicing.recall()),
                fmt::format("{:.3f}", voicing.false_alarm())});
  }
  std::string text() const { return table_.text(); }

 private:
  eval::TextTable table_{
      {"recording", "against", "listener", "frames", "pitch", "recall", "false alarm"}};
};

void check_voicing(const std::string& where, const eval::Voicing& voicing, double max_false_alarm,
                   eval::Bar& bar) {
  bar.checks.at_least("recall, " + where, voicing.recall(), kLeastRecall);
  bar.checks.at_most("false alarm, " + where, voicing.false_alarm(), max_false_alarm);
}

void judge_by_curve(const Recordings& recordings, const Tracks& ours,
                    const std::vector<Tracks>& peers, Table& table, eval::Bar& bar) {
  const auto add = [&](const Tracks& tracks, Json& figures) {
    const MelodyScore score =
        eval::score_melody(recordings.curve, tracks.of[recordings.with_curve]);
    figures[kCurveOf] = figures_of(score.pitch.raw_pitch, score.voicing);
    table.row(kCurveOf, kCurve, tracks.name, score.pitch.raw_pitch, score.voicing);
    return score;
  };
  const MelodyScore score = add(ours, bar.ours);
  for (const Tracks& tracks : peers) add(tracks, bar.peer[tracks.name]);
  bar.value = score.pitch.raw_pitch;
  bar.checks.at_least(fmt::format("pitch, {}", kCurveOf), score.pitch.raw_pitch, kLeastPitch);
  check_voicing(kCurveOf, score.voicing, kMaxFalseAlarm, bar);
}

std::vector<double> frame_times(const hear::Sound& sound) {
  std::vector<double> times;
  const double seconds = static_cast<double>(sound.size()) / data::kSampleRate;
  while (kFrame_s * static_cast<double>(times.size()) < seconds) {
    times.push_back(kFrame_s * static_cast<double>(times.size()));
  }
  return times;
}

// What the trackers agree on in a recording.
MelodyTrack agreed(const std::vector<Tracks>& peers, size_t recording,
                   std::span<const double> times) {
  std::vector<MelodyTrack> tracks;
  for (const Tracks& peer : peers) tracks.push_back(peer.of[recording]);
  return eval::agreed_track(tracks, times);
}

void judge_by_peers(const Recordings& recordings, const Tracks& ours,
                    const std::vector<Tracks>& peers, Table& table, eval::Bar& bar) {
  eval::Voicing all;
  double pitch_sum = 0, least_pitch = 1, frames = 0, judged = 0;
  for (size_t i = 0; i < recordings.sounds.size(); ++i) {
    const auto times = frame_times(recordings.sounds[i]);
    const MelodyTrack reference = agreed(peers, i, times);
    const auto estimate = eval::resampled(ours.of[i], reference.time_s);
    const MelodyScore score = eval::score_frames(reference, estimate);
    const double pitch = score.pitch.raw_pitch;
    bar.ours["against the trackers"][recordings.names[i]] = figures_of(pitch, score.voicing);
    table.row(recordings.names[i], kTrackersAgree, ours.name, pitch, score.voicing);
    pitch_sum += pitch;
    least_pitch = std::min(least_pitch, pitch);
    all += score.voicing;
    frames += static_cast<double>(times.size());
    judged += static_cast<double>(reference.size());
  }
  const double mean_pitch = pitch_sum / static_cast<double>(recordings.sounds.size());
  table.row(kAllRecordings, kTrackersAgree, ours.name, mean_pitch, all);
  bar.ours["share of frames judged"] = judged / frames;
  bar.checks.at_least("mean pitch of the recordings", mean_pitch, kLeastMeanPitch);
  bar.checks.at_least("least pitch of a recording", least_pitch, kLeastOnePitch);
  check_voicing(kAllRecordings, all, kMaxFalseAlarmInAll, bar);
}

}  // namespace

eval::Bar hear_pitch(const Scale& scale) {
  eval::Bar bar{
      .name = "hear-pitch",
      .unit = fmt::format("raw pitch accuracy, {}", kCurveOf),
      .bar = fmt::format("{} against its pitch curve (mir_eval.melody, 50 cents): pitch >= {}, "
                         "recall of voicing >= {}, false alarm <= {}; all recordings where two of "
                         "three trackers agree: mean pitch >= {}, none under {}, recall >= {}, "
                         "false alarm <= {}",
                         kCurveOf, kLeastPitch, kLeastRecall, kMaxFalseAlarm, kLeastMeanPitch,
                         kLeastOnePitch, kLeastRecall, kMaxFalseAlarmInAll),
      .reason = hear::recordings_missing()};
  if (!bar.reason.empty()) return bar;
  const Recordings recordings = read_recordings(scale.smoke);
  const hear::Ears ears(scale);
  Tracks ours{ears.ours().name, {}};
  for (const auto& sound : recordings.sounds) ours.of.push_back(ears.track(sound));
  bar.ours["listener"] = ours.name;
  std::vector<Tracks> peers;
  if (is_installed(kPeersPitch)) {
    peers = peer_tracks(recordings.sounds);
  } else {
    bar.reason = fmt::format("the other trackers need bench/peers/install.sh {}", kPeersPitch);
    spdlog::info("hear-pitch: {}", bar.reason);
  }
  Table table;
  judge_by_curve(recordings, ours, peers, table, bar);
  if (!peers.empty()) judge_by_peers(recordings, ours, peers, table, bar);
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench

#include "data/singing/performance.h"

#include <algorithm>
#include <cmath>

#include "audio/loudness.h"
#include "audio/notes.h"
#include "base/error.h"
#include "base/quantile.h"
#include "data/singing/gesture.h"
#include "data/synthesis/wander.h"

namespace hum::data {
namespace {

constexpr double kControl_s = static_cast<double>(kControlSamples) / kSampleRate;

// The mean over 2 * reach + 1 points.
void blur(std::vector<float>& values, int64_t reach) {
  const std::vector<float> before = values;
  const auto size = std::ssize(values);
  for (int64_t i = 0; i < size; ++i) {
    const int64_t from = std::max<int64_t>(0, i - reach), to = std::min(size, i + reach + 1);
    double sum = 0;
    for (int64_t j = from; j < to; ++j) sum += before[static_cast<size_t>(j)];
    values[static_cast<size_t>(i)] = static_cast<float>(sum / static_cast<double>(to - from));
  }
}

class Performer {
 public:
  Performer(std::span<const PlannedNote> song, const Singer& singer, double seconds, Rng& rng)
      : song_(song),
        singer_(singer),
        points_(static_cast<size_t>(seconds / kControl_s) + 2),
        rng_(rng),
        drift_(rng, 0.05, 0.3),
        flutter_(rng, 1.5, 9),
        waver_(rng, 0.7, 7) {
    for (size_t i = 0; i < song.size(); ++i) {
      gestures_.push_back(draw_gesture(song, i, singer, rng));
    }
  }

  Performance perform() {
    for (size_t point = 0; point < points_; ++point) add_point(Performance::time_s(point));
    result_.noise.assign(points_, 0);
    result_.noise_hz.assign(points_, 0);
    for (size_t i = 0; i < song_.size(); ++i) {
      if (song_[i].consonant_s > 0 && song_[i].join != Join::kDip) add_consonant(i);
      add_note(i);
    }
    blur(result_.level, 2);
    blur(result_.nasality, 8);
    blur(result_.syllable, 12);
    return std::move(result_);
  }

 private:
  bool joined(size_t i) const { return follows_without_rest(song_, i); }

  // The level in the dip before a note.
  double dip_level(size_t i) const {
    const Gesture &before = gestures_[i - 1], &after = gestures_[i];
    return after.floor_before * std::sqrt(before.gain * after.gain);
  }

  // The note that sounds, or whose consonant does; during a rest the one before it.
  void go_to(double time_s) {
    while (now_ + 1 < song_.size() &&
           song_[now_ + 1].start_s - song_[now_ + 1].consonant_s <= time_s) {
      ++now_;
      if (song_[now_].join != Join::kSlur) ++syllable_;
    }
  }

  double pitch_at(double time_s) const {
    double pitch = song_[now_].pitch + glide_semitones(gestures_[now_], time_s) +
                   ornament_semitones(gestures_[now_], time_s);
    if (joined(now_ + 1)) {  // a glide may begin before its note
      const Gesture& next = gestures_[now_ + 1];
      pitch += glide_semitones(next, time_s) - next.from;
    }
    return pitch + singer_.tuning_cents / 100 + singer_.drift_cents / 200 * drift_.at(time_s) +
           singer_.flutter_cents / 200 * flutter_.at(time_s);
  }

  // Its dips stay below kRepeatDip_db.
  double waver_db(double time_s) const {
    return singer_.waver_db * std::clamp(waver_.at(time_s), -1.6, 1.6);
  }

  bool is_nasal(double time_s) const {
    if (singer_.kind == VoiceKind::kClosedMouth) return true;
    const Gesture& g = gestures_[now_];
    const double since_s = time_s - g.start_s;
    return (since_s < 0 && song_[now_].join == Join::kDip) ||
           (g.is_nasal && since_s >= g.dip_at_s && since_s < g.dip_at_s + g.dip_s);
  }

  void add_point(double time_s) {
    go_to(time_s);
    const Gesture& g = gestures_[now_];
    const bool dips = time_s < g.start_s && joined(now_);
    const double level_now =
        (dips ? dip_level(now_) : level_of(g, time_s)) * audio::from_db(waver_db(time_s));
    const double effort = 0.5 + 0.25 * std::log2(level_now + 1e-3);
    result_.hz.push_back(static_cast<float>(audio::midi_to_hz(pitch_at(time_s))));
    result_.level.push_back(static_cast<float>(level_now));
    result_.effort.push_back(static_cast<float>(std::clamp(effort, 0.0, 1.0)));
    const bool creaks = g.creak_s > 0 && g.end_s - time_s < g.creak_s;
    result_.roughness.push_back(creaks ? 1 : 0);
    result_.syllable.push_back(static_cast<float>(syllable_));
    result_.nasality.push_back(is_nasal(time_s) ? 1 : 0);
  }

  void add_consonant(size_t i) {
    const PlannedNote& note = song_[i];
    const bool closes = note.join == Join::kStop || (note.join == Join::kRest && rng_.chance(0.5));
    const double length_s = closes ? rng_.uniform(0.005, 0.025) : note.consonant_s;
    const double hz = closes ? rng_.uniform(1000, 5000) : rng_.uniform(2500, 8000);
    const double loud = gestures_[i].gain * audio::from_db(rng_.uniform(-30, -4));
    const auto from = static_cast<size_t>(std::max(0.0, note.start_s - length_s) / kControl_s);
    const auto to = std::min(points_, static_cast<size_t>(note.start_s / kControl_s) + 1);
    for (size_t point = from; point < to; ++point) {
      result_.noise[point] = static_cast<float>(loud);
      result_.noise_hz[point] = static_cast<float>(hz);
    }
  }

  void add_note(size_t i) {
    const Gesture& g = gestures_[i];
    SungNote note;
    note.start_s =
        g.floor_before == 1 ? g.half_way_s : g.start_s + edge_of_ramp_s(g.attack_s, g.floor_before);
    note.end_s = g.floor_after == 1 ? gestures_[i + 1].half_way_s
                                    : g.end_s - edge_of_ramp_s(g.release_s, g.floor_after);
    const double length_s = note.end_s - note.start_s;
    const auto from = static_cast<size_t>((note.start_s + kSteadyFrom * length_s) / kControl_s);
    const auto to = static_cast<size_t>((note.start_s + kSteadyTo * length_s) / kControl_s) + 1;
    note.hz = median({result_.hz.begin() + static_cast<int64_t>(from),
                      result_.hz.begin() + static_cast<int64_t>(std::min(to, points_))});
    result_.notes.push_back(note);
  }

  std::span<const PlannedNote> song_;
  const Singer& singer_;
  size_t points_;
  Rng& rng_;
  Wander drift_, flutter_, waver_;
  std::vector<Gesture> gestures_;
  Performance result_;
  size_t now_ = 0;
  int syllable_ = 0;
};

}  // namespace

Performance perform(std::span<const PlannedNote> song, const Singer& singer, double seconds,
                    Rng& rng) {
  HUM_REQUIRE(!song.empty(), "perform: a song without notes");
  return Performer(song, singer, seconds, rng).perform();
}

}  // namespace hum::data

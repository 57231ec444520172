#include "eval/metrics/melody_track.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace hum::eval {
namespace {

constexpr double kOctave_cents = 1200;

// mir_eval rounds times, so that equal ones compare as equal.
double rounded(double time_s) { return std::nearbyint(time_s * 1e10) / 1e10; }

// numpy.allclose with its defaults.
bool are_same(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(
      a, b, [](double x, double y) { return std::abs(x - y) <= 1e-8 + 1e-5 * std::abs(y); });
}

// Begins at 0 or earlier.
MelodyTrack from_zero(MelodyTrack track) {
  if (track.size() == 0 || track.time_s.front() <= 0) return track;
  track.time_s.insert(track.time_s.begin(), 0);
  track.hz.insert(track.hz.begin(), track.hz.front());
  track.voiced.insert(track.voiced.begin(), track.voiced.front());
  return track;
}

// The pitch at a time after `frame` and before the next one.
double pitch_after(const MelodyTrack& track, size_t frame, double time_s) {
  const double here_hz = track.hz[frame];
  if (here_hz == 0 || frame + 1 == track.size()) return here_hz;
  const double next_hz = track.hz[frame + 1];
  if (next_hz == 0) return here_hz;
  const double from_s = rounded(track.time_s[frame]), to_s = rounded(track.time_s[frame + 1]);
  const double share = (time_s - from_s) / (to_s - from_s);
  return here_hz * std::exp2(share * std::log2(next_hz / here_hz));
}

bool is_voiced_by_most(std::span<const MelodyTrack> tracks, size_t frame) {
  const auto voiced =
      std::ranges::count_if(tracks, [&](const auto& track) { return track.voiced[frame]; });
  return 2 * voiced > std::ssize(tracks);
}

// Between the two voiced pitches that are nearest to each other; absent if none are near.
std::optional<double> agreed_hz(std::span<const MelodyTrack> tracks, size_t frame,
                                double tolerance_cents) {
  std::vector<double> octaves;
  for (const MelodyTrack& track : tracks) {
    if (track.voiced[frame]) octaves.push_back(std::log2(track.hz[frame]));
  }
  std::ranges::sort(octaves);
  double nearest = tolerance_cents / kOctave_cents;
  std::optional<double> result;
  for (size_t i = 1; i < octaves.size(); ++i) {
    if (octaves[i] - octaves[i - 1] > nearest) continue;
    nearest = octaves[i] - octaves[i - 1];
    result = std::exp2((octaves[i] + octaves[i - 1]) / 2);
  }
  return result;
}

// Which frames are not near a change of the voicing.
std::vector<bool> away_from_changes(const std::vector<bool>& voiced, std::span<const double> time_s,
                                    double margin_s) {
  std::vector<bool> away(voiced.size(), true);
  for (size_t i = 1; i < voiced.size(); ++i) {
    if (voiced[i] == voiced[i - 1]) continue;
    const double change_s = (time_s[i] + time_s[i - 1]) / 2;
    for (size_t t = i; t < voiced.size() && time_s[t] - change_s <= margin_s; ++t) away[t] = false;
    for (size_t t = i; t-- > 0 && change_s - time_s[t] <= margin_s;) away[t] = false;
  }
  return away;
}

}  // namespace

void MelodyTrack::add(double at_s, double pitch_hz, bool is_voiced) {
  time_s.push_back(at_s);
  hz.push_back(pitch_hz);
  voiced.push_back(is_voiced && pitch_hz > 0);
}

MelodyTrack resampled(const MelodyTrack& track, std::span<const double> time_s) {
  const MelodyTrack whole = from_zero(track);
  if (are_same(whole.time_s, time_s)) return whole;
  const double end_s = time_s.empty() ? 0 : rounded(time_s.back());
  const double last_s = whole.size() > 0 ? rounded(whole.time_s.back()) : -1;
  MelodyTrack result;
  size_t next = 0;  // the first frame after the time
  for (const double at_s : time_s) {
    const double time = rounded(at_s);
    while (next < whole.size() && rounded(whole.time_s[next]) <= time) ++next;
    if (next == 0 || (time == end_s && end_s > last_s)) {
      result.add(at_s, 0, false);
    } else {
      result.add(at_s, pitch_after(whole, next - 1, time), whole.voiced[next - 1]);
    }
  }
  return result;
}

double Voicing::recall() const {
  return voiced > 0 ? static_cast<double>(recalled) / static_cast<double>(voiced) : 1;
}

double Voicing::false_alarm() const {
  return unvoiced > 0 ? static_cast<double>(false_alarms) / static_cast<double>(unvoiced) : 0;
}

Voicing& Voicing::operator+=(const Voicing& other) {
  voiced += other.voiced;
  unvoiced += other.unvoiced;
  recalled += other.recalled;
  false_alarms += other.false_alarms;
  return *this;
}

MelodyScore score_frames(const MelodyTrack& reference, const MelodyTrack& estimate,
                         double tolerance_cents) {
  HUM_REQUIRE(reference.size() == estimate.size(), "score_frames: {} frames against {}",
              reference.size(), estimate.size());
  MelodyScore score;
  std::vector<double> voiced_hz = reference.hz;
  for (size_t t = 0; t < reference.size(); ++t) {
    const bool is_voiced = reference.voiced[t];
    if (!is_voiced) voiced_hz[t] = 0;
    ++(is_voiced ? score.voicing.voiced : score.voicing.unvoiced);
    if (estimate.voiced[t]) {
      ++(is_voiced ? score.voicing.recalled : score.voicing.false_alarms);
    }
  }
  score.pitch = pitch_accuracy(voiced_hz, estimate.hz, tolerance_cents);
  return score;
}

MelodyScore score_melody(const MelodyTrack& reference, const MelodyTrack& estimate,
                         double tolerance_cents) {
  const MelodyTrack whole = from_zero(reference);
  return score_frames(whole, resampled(estimate, whole.time_s), tolerance_cents);
}

MelodyTrack agreed_track(std::span<const MelodyTrack> tracks, std::span<const double> time_s,
                         const AgreementOptions& options) {
  std::vector<MelodyTrack> aligned;
  for (const MelodyTrack& track : tracks) aligned.push_back(resampled(track, time_s));
  std::vector<bool> voiced;
  for (size_t t = 0; t < time_s.size(); ++t) voiced.push_back(is_voiced_by_most(aligned, t));
  const auto away = away_from_changes(voiced, time_s, options.margin_s);
  MelodyTrack result;
  for (size_t t = 0; t < time_s.size(); ++t) {
    if (!away[t]) continue;
    if (!voiced[t]) {
      result.add(time_s[t], 0, false);
    } else if (const auto hz = agreed_hz(aligned, t, options.tolerance_cents)) {
      result.add(time_s[t], *hz, true);
    }
  }
  return result;
}

}  // namespace hum::eval

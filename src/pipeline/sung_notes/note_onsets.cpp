#include "pipeline/sung_notes/note_onsets.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "pipeline/sung_notes/note_pieces.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr double kShortest_s = 0.070;

// The search range of onsets before and after the transcriber's.
constexpr double kEarlier_s = 0.120, kLater_s = 0.060;
// The level of a note is that of this time after its onset.
constexpr double kBody_from_s = 0.040, kBody_to_s = 0.150;
// A rise is at least 3 dB; the line through two of its heights gives its beginning.
constexpr double kRise = 0.7, kLowHeight = 0.2, kHighHeight = 0.6;
// The share of the way to the next pitch at its onset, because YIN looks half a window ahead.
constexpr double kPitchShare = 0.3;
// With a smaller gap, a note lasts until the next one.
constexpr double kFollows_s = 0.015;
constexpr double kGlide_s = 0.080;  // longest glide between pitches

// The depth of a dip of a repeated note, and the distance within which the level on both sides must
// be as loud.
constexpr double kDip = 0.6, kDipSide_s = 0.110, kPartShortest_s = 0.090;
// Between two notes of one pitch, a smaller dip is not a new onset.
constexpr double kUnbroken = 0.8, kJoinGap_s = 0.080;

double mean_level(const VoiceTrack& track, double from_s, double to_s) {
  const int64_t first = track.level.index(from_s), last = track.level.index(to_s);
  double sum = 0;
  for (int64_t i = first; i <= last; ++i) sum += track.level[i];
  return sum / static_cast<double>(last - first + 1);
}

double highest_level(const VoiceTrack& track, double from_s, double to_s) {
  const int64_t first = track.level.index(from_s), last = track.level.index(to_s);
  double highest = 0;
  for (int64_t i = first; i <= last; ++i) highest = std::max(highest, track.level[i]);
  return highest;
}

int64_t lowest_level(const VoiceTrack& track, double from_s, double to_s) {
  const int64_t first = track.level.index(from_s), last = track.level.index(to_s);
  int64_t lowest = first;
  for (int64_t i = first; i <= last; ++i) {
    if (track.level[i] < track.level[lowest]) lowest = i;
  }
  return lowest;
}

// The time when the level passes `height` after frame `from`, interpolated between frames.
std::optional<double> passes(const Curve& level, int64_t from, double to_s, double height) {
  for (int64_t i = from + 1; i < level.size() && level.time(i) <= to_s; ++i) {
    if (level[i] < height) continue;
    const double rise = level[i] - level[i - 1];
    const double share = rise > 0 ? (height - level[i - 1]) / rise : 1;
    return level.time(i - 1) + std::clamp(share, 0.0, 1.0) * level.step_s;
  }
  return {};
}

// The last rise before the body of the note.
std::optional<double> rise_onset(const Note& note, double from_s, const VoiceTrack& track) {
  const Curve& level = track.level;
  const double body_to_s =
      std::max(note.start_s + kBody_from_s, std::min(note.start_s + kBody_to_s, note.end_s - 0.03));
  const double body = mean_level(track, note.start_s + kBody_from_s, body_to_s);
  const double latest_s = std::min(note.start_s + kLater_s, body_to_s);
  const int64_t low = lowest_level(track, from_s, latest_s);
  if (level[low] > kRise * body) return {};
  const double low_height = level[low] + kLowHeight * (body - level[low]);
  const double high_height = level[low] + kHighHeight * (body - level[low]);
  int64_t foot = level.index(latest_s);
  while (foot > low && level[foot] > low_height) --foot;
  const auto first = passes(level, foot, body_to_s, low_height);
  const auto second = passes(level, foot, body_to_s, high_height);
  if (!first || !second) return {};
  const double start_s = *first - (*second - *first) * kLowHeight / (kHighHeight - kLowHeight);
  const int64_t bottom = lowest_level(track, std::max(from_s, *first - kDipSide_s / 2), *first);
  return std::max(start_s, level.time(bottom));
}

std::optional<double> glide_onset(const Note& before, const Note& note, const VoiceTrack& track) {
  const auto pitch = track.median_pitch(note.start_s + kGlide_s / 2,
                                        std::max(note.start_s + kGlide_s, note.end_s - 0.03));
  const auto past = track.median_pitch(std::max(before.start_s + 0.03, note.start_s - 0.2),
                                       note.start_s - kGlide_s / 2);
  if (!pitch || !past || std::fabs(*pitch - *past) < 0.5) return {};
  auto share = [&](int64_t i) { return (track.pitch[i] - *past) / (*pitch - *past); };
  const int64_t first =
      track.pitch.index(std::max(before.start_s + 0.04, note.start_s - kEarlier_s));
  // Searches backwards from the note's pitch to the time before it.
  int64_t i = track.pitch.index(note.start_s + kLater_s);
  while (i > first && share(i) > kPitchShare) --i;
  const double here = share(i), next = share(i + 1);
  if (i == first || !(next > here)) return {};
  return track.pitch.time(i) + track.pitch.step_s * (kPitchShare - here) / (next - here);
}

std::optional<double> onset_of(const Note* before, const Note& note, const VoiceTrack& track) {
  double from_s = std::max(0.0, note.start_s - kEarlier_s);
  if (before != nullptr) from_s = std::max(from_s, before->start_s + kShortest_s);
  if (from_s >= note.start_s) return {};
  if (const auto rise = rise_onset(note, from_s, track)) return rise;
  const bool follows = before != nullptr && note.start_s - before->end_s < kJoinGap_s;
  return follows && before->pitch != note.pitch ? glide_onset(*before, note, track) : std::nullopt;
}

// The frame of the deepest dip that splits a note.
std::optional<int64_t> dip_in(const Note& note, const VoiceTrack& track) {
  const Curve& level = track.level;
  std::optional<int64_t> deepest;
  double depth = kDip;
  for (int64_t i = level.index(note.start_s + kPartShortest_s);
       i <= level.index(note.end_s - kPartShortest_s); ++i) {
    if (level[i] > level[i - 1] || level[i] > level[i + 1]) continue;
    const double at_s = level.time(i);
    const double sides =
        std::min(highest_level(track, std::max(note.start_s, at_s - kDipSide_s), at_s),
                 highest_level(track, at_s, std::min(note.end_s, at_s + kDipSide_s)));
    if (level[i] >= depth * sides) continue;
    depth = level[i] / sides;
    deepest = i;
  }
  return deepest;
}

void part(const Note& note, const VoiceTrack& track, std::vector<Note>& parts) {
  const auto dip =
      note.end_s - note.start_s > 2 * kPartShortest_s ? dip_in(note, track) : std::nullopt;
  if (!dip) {
    parts.push_back(note);
    return;
  }
  const double at_s = track.level.time(*dip);
  part(cut_note(note, note.start_s, at_s), track, parts);
  part(cut_note(note, at_s, note.end_s), track, parts);
}

bool is_unbroken(const Note& before, const Note& note, const VoiceTrack& track) {
  if (before.pitch != note.pitch || note.start_s - before.end_s > kJoinGap_s) return false;
  const double from_s = std::max(before.start_s, note.start_s - kDipSide_s);
  const double to_s = std::min(note.end_s, note.start_s + kDipSide_s);
  const int64_t low = lowest_level(track, std::max(from_s, note.start_s - kLater_s),
                                   std::min(to_s, note.start_s + kLater_s));
  const double at_s = track.level.time(low);
  const double sides =
      std::min(highest_level(track, from_s, at_s), highest_level(track, at_s, to_s));
  return track.level[low] > kUnbroken * sides;
}

}  // namespace

std::vector<Note> part_repeated(const std::vector<Note>& notes, const VoiceTrack& track) {
  std::vector<Note> parts;
  for (const Note& note : notes) part(note, track, parts);
  return parts;
}

std::vector<Note> join_unbroken(const std::vector<Note>& notes, const VoiceTrack& track) {
  std::vector<Note> joined;
  for (const Note& note : notes) {
    if (!joined.empty() && is_unbroken(joined.back(), note, track)) {
      joined.back() = join_notes(joined.back(), note);
    } else {
      joined.push_back(note);
    }
  }
  return joined;
}

std::vector<Note> at_onsets(std::vector<Note> notes, const VoiceTrack& track) {
  for (size_t i = 0; i < notes.size(); ++i) {
    Note* before = i > 0 ? &notes[i - 1] : nullptr;
    const auto onset = onset_of(before, notes[i], track);
    if (!onset || *onset > notes[i].end_s - kShortest_s) continue;
    if (before != nullptr) {
      const bool follows = notes[i].start_s - before->end_s < kFollows_s;
      const double end_s = follows ? *onset : std::min(before->end_s, *onset);
      *before = note_between(*before, before->start_s, end_s);
    }
    notes[i] = note_between(notes[i], *onset, notes[i].end_s);
  }
  return notes;
}

}  // namespace hum::pipeline

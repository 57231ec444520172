#include "data/singing/song.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/synthesis/level.h"
#include "data/synthesis/melody.h"
#include "data/synthesis/sung_note.h"

namespace hum::data {
namespace {

constexpr double kShortest_s = 0.08, kLongest_s = 5;
// Notes nearer than this follow each other without a rest.
constexpr double kJoined_s = 0.03;
constexpr double kSamePitch = 0.4;  // semitones: nearer notes need something between them
// A consonant leaves the note before it at least this much.
constexpr double kLeast_s = 0.06;

std::vector<PlannedNote> composed(const Singer& singer, double seconds, uint64_t seed,
                                  uint64_t index, Rng& rng) {
  const Preset range{.name = "",
                     .alias = "",
                     .family = "",
                     .program = 0,
                     .low = singer.low,
                     .high = singer.high,
                     .polyphonic = false,
                     .held_out = false};
  const Melody melody = make_melody(seed, index, range,
                                    {.seconds = seconds, .expressive_share = 0, .chord_share = 0});
  const double key = rng.uniform(-0.5, 0.5);  // no singer is at concert pitch
  std::vector<PlannedNote> notes;
  for (const audio::Note& note : melody.notes) {
    const double level_db = (127 * note.amplitude - kVelocityMiddle) / kVelocityPerDb;
    notes.push_back({.start_s = note.start_s,
                     .end_s = note.end_s,
                     .pitch = note.pitch + key + 0.08 * rng.normal(),
                     .level_db = level_db});
  }
  return notes;
}

double free_interval(Rng& rng) {
  const double sign = rng.chance(0.5) ? 1 : -1;
  const double kind = rng.uniform();
  if (kind < 0.12) return 0;
  if (kind < 0.65) return sign * rng.uniform(0.7, 2.4);
  if (kind < 0.87) return sign * rng.uniform(2.4, 5.5);
  if (kind < 0.97) return sign * rng.uniform(5.5, 12.5);
  return sign * rng.uniform(12.5, 24);
}

std::vector<PlannedNote> free_melody(const Singer& singer, double seconds, Rng& rng) {
  std::vector<PlannedNote> notes;
  const double pace_s = 0.18 * std::exp(1.2 * rng.uniform());
  const double rests = rng.uniform(0.03, 0.35), joined = rng.uniform(0.3, 1);
  double at_s = rng.uniform(0, 0.5);
  double pitch = rng.uniform(singer.low, singer.high);
  while (true) {
    const double length_s =
        std::clamp(pace_s * std::exp(0.8 * rng.normal()), kShortest_s, kLongest_s);
    if (at_s + length_s > seconds) return notes;
    notes.push_back({.start_s = at_s,
                     .end_s = at_s + length_s,
                     .pitch = pitch,
                     .level_db = std::clamp(3 * rng.normal(), -12.0, 6.0)});
    at_s += length_s;
    if (rng.chance(rests)) {
      at_s += 0.05 * std::pow(100, rng.uniform() * rng.uniform());  // 50 ms to 5 s, mostly short
    } else if (!rng.chance(joined)) {
      at_s += rng.uniform(0, 0.1);
    }
    const double interval = free_interval(rng);
    const double there = pitch + interval;
    pitch = there < singer.low || there > singer.high ? pitch - interval : there;
    pitch = std::clamp<double>(pitch, singer.low, singer.high);
  }
}

// Splits some notes into runs of 2 to 5 on one syllable, each of at least kShortest_s.
std::vector<PlannedNote> with_melismas(const std::vector<PlannedNote>& notes, const Singer& singer,
                                       Rng& rng) {
  std::vector<PlannedNote> result;
  for (PlannedNote note : notes) {
    const double length_s = note.end_s - note.start_s;
    const auto most = std::min<int64_t>(5, static_cast<int64_t>(length_s / kShortest_s));
    if (most < 2 || !rng.chance(singer.melisma_share)) {
      result.push_back(note);
      continue;
    }
    std::vector<double> weights(static_cast<size_t>(rng.integer(2, most)));
    for (double& weight : weights) weight = std::pow(rng.uniform(0.05, 1), 2);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double spare_s = length_s - static_cast<double>(weights.size()) * kShortest_s;
    double way = rng.chance(0.5) ? 1 : -1;
    for (const double weight : weights) {
      note.end_s = note.start_s + kShortest_s + spare_s * weight / total;
      result.push_back(note);
      note.start_s = note.end_s;
      note.glide_s = rng.uniform(0.02, 0.06);
      if (rng.chance(0.35)) way = -way;
      const double step = (rng.chance(0.4) ? 1 : 2) + 0.08 * rng.normal();
      const double there = note.pitch + way * step;
      if (there < singer.low || there > singer.high) way = -way;
      note.pitch += way * step;
    }
  }
  return result;
}

Join drawn_join(const Singer& singer, bool same_pitch, Rng& rng) {
  if (singer.kind == VoiceKind::kClosedMouth || singer.kind == VoiceKind::kWhistle) {
    return !same_pitch && rng.chance(std::max(0.4, singer.legato)) ? Join::kSlur : Join::kDip;
  }
  if (!same_pitch && rng.chance(singer.legato)) return Join::kSlur;
  const double kind = rng.uniform();
  return kind < 0.4 ? Join::kStop : kind < 0.65 ? Join::kFricative : Join::kDip;
}

// Takes the consonant's time from the note before it.
void join(PlannedNote& before, PlannedNote& note, const Singer& singer, Rng& rng) {
  const bool same_pitch = std::abs(before.pitch - note.pitch) < kSamePitch;
  note.join = note.glide_s > 0 ? Join::kSlur : drawn_join(singer, same_pitch, rng);
  before.end_s = note.start_s;
  if (note.join == Join::kSlur) return;
  const double wish_s = note.join == Join::kFricative ? rng.uniform(0.05, 0.15)
                        : note.join == Join::kStop    ? rng.uniform(0.02, 0.12)
                                                      : rng.uniform(0.01, 0.12);
  const double room_s = before.end_s - before.start_s - kLeast_s;
  // A dip's slopes are part of it.
  const double slopes_s = singer.attack_s + singer.release_s;
  const double least_s =
      note.join == Join::kDip ? std::max(0.01, kRepeatDip_s + 0.01 - 0.6 * slopes_s) : 0.02;
  note.consonant_s = std::max(least_s, std::min(wish_s, room_s));
  before.end_s = std::max(before.start_s + 0.02, before.end_s - note.consonant_s);
  note.dip_db = rng.uniform(kRepeatDip_db + 1.5, 30);
}

}  // namespace

void plan_joins(std::vector<PlannedNote>& notes, const Singer& singer, Rng& rng) {
  for (size_t i = 0; i < notes.size(); ++i) {
    PlannedNote& note = notes[i];
    const double gap_s = i == 0 ? 1 : note.start_s - notes[i - 1].end_s;
    if (gap_s < kJoined_s) {
      join(notes[i - 1], note, singer, rng);
    } else if (rng.chance(0.4) && drawn_join(singer, true, rng) != Join::kDip) {
      note.consonant_s = std::min(0.8 * gap_s, rng.uniform(0.03, 0.12));  // noise in the rest
    }
  }
}

std::vector<PlannedNote> plan_song(const Singer& singer, double seconds, uint64_t seed,
                                   uint64_t index) {
  Rng rng(seed, "song", index);
  auto notes = with_melismas(rng.chance(0.5) ? composed(singer, seconds, seed, index, rng)
                                             : free_melody(singer, seconds, rng),
                             singer, rng);
  plan_joins(notes, singer, rng);
  return notes;
}

}  // namespace hum::data

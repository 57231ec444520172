#include "data/singing/gesture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/loudness.h"
#include "data/synthesis/sung_note.h"

namespace hum::data {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

// 0 before -1/2, 1 after 1/2, 1/2 at 0, without corners.
double smooth_step(double x) {
  const double t = std::clamp(x + 0.5, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

// 0 to 1: how deep in the dip within the note.
double depth_of_dip(const Gesture& g, double since_s) {
  if (g.dip_at_s < 0) return 0;
  const double x = (since_s - g.dip_at_s) / g.dip_s;
  return smooth_step(4 * x - 0.5) * smooth_step(3.5 - 4 * x);
}

// Where smooth_step is y.
double inverse_smooth_step(double y) { return -std::sin(std::asin(1 - 2 * y) / 3); }

// After the note's beginning is drawn: the glide leads to where the scoop or creep begins.
void draw_glide(const PlannedNote& before, const PlannedNote& note, const Singer& singer, Rng& rng,
                Gesture& g) {
  const double shorter_s = std::min(note.end_s - note.start_s, before.end_s - before.start_s);
  const double interval = before.pitch - note.pitch;
  g.from = interval + g.scoop - g.creep;
  g.glide_s = std::clamp(note.glide_s > 0 ? note.glide_s : singer.glide_s * rng.uniform(0.5, 1.8),
                         0.02, std::clamp(0.5 * shorter_s, 0.02, 0.25));
  g.glide_at_s = note.start_s;
  if (note.join == Join::kSlur) {
    g.glide_at_s += rng.uniform(-0.3, 0.3) * std::min(g.glide_s, 0.1);
    if (rng.chance(0.3)) g.overshoot = rng.uniform(0.03, 0.15);
    const double done = 1 - (interval / 2 - g.creep) / g.from;
    g.half_way_s = g.glide_at_s + g.glide_s * inverse_smooth_step(done);
  } else {
    g.glide_at_s -= note.consonant_s / 2;
    g.glide_s = std::min(g.glide_s, note.consonant_s);
  }
}

// How the note finds its pitch. A slur glides to it and needs no scoop; what is left of a creep
// must stay small against its interval.
void draw_beginning(double length_s, bool slurred, double interval, const Singer& singer, Rng& rng,
                    Gesture& g) {
  if (!slurred && rng.chance(singer.scoop_share)) {
    const bool is_held = rng.chance(singer.held_scoop_share);
    g.scoop = rng.uniform(0.5, is_held ? 2 : 3);
    if (rng.chance(0.15)) g.scoop *= -0.5;
    g.scoop_s = std::min(rng.uniform(0.03, rng.chance(0.25) ? 0.45 : 0.2), 0.4 * length_s);
    g.scoop_shape = rng.uniform(-1, 1);
    if (is_held) g.scoop_held_s = rng.uniform(0.3, 0.8) * g.scoop_s;
  } else if (length_s > 0.2 && rng.chance(singer.creep_share)) {
    const double most = slurred ? std::min(0.6, 0.4 * std::abs(interval)) : 0.6;
    g.creep = rng.uniform(-most, most);
    g.creep_s = rng.uniform(0.3, 0.7) * length_s;
  }
}

// A nasal or another voiced consonant, or a catch in the voice.
void draw_dip_within(double length_s, Rng& rng, Gesture& g) {
  g.dip_at_s = rng.uniform(0.2, 0.7) * length_s;
  if (rng.chance(0.7)) {
    g.is_nasal = rng.chance(0.6);
    g.dip_s = std::min(rng.uniform(0.04, 0.12), 0.25 * length_s);
    g.dip_db = rng.uniform(1, kRepeatDip_db - 2);
    if (rng.chance(0.5)) g.dip_semitones = rng.uniform(-0.8, 0.8);
  } else {
    g.dip_s = rng.uniform(0.4, 0.8) * kRepeatDip_s;
    g.dip_db = rng.uniform(4, 16);
  }
}

void draw_ornaments(double length_s, bool is_followed, const Singer& singer, Rng& rng, Gesture& g) {
  if (!is_followed && rng.chance(singer.fall_share)) {
    g.fall = rng.uniform(0.5, 5);
    g.fall_s = std::min(rng.uniform(0.04, 0.2), 0.2 * length_s);
  }
  if (!is_followed && length_s > 0.2 && rng.chance(singer.creak_share)) {
    g.creak_s = std::min(rng.uniform(0.05, 0.15), 0.3 * length_s);
  }
  if (length_s > 0.3 && rng.chance(singer.vibrato_share)) {
    g.vibrato_semitones = singer.vibrato_cents / 100 * rng.uniform(0.5, 1.2);
    g.vibrato_from_s = rng.chance(0.4) ? 0 : rng.uniform(0.05, 0.5) * length_s;
    g.vibrato_hz = singer.vibrato_hz * rng.uniform(0.9, 1.1);
    g.phase = rng.uniform();
    g.vibrato_db = singer.vibrato_db;
  }
  if (length_s > 0.3 && rng.chance(0.25)) draw_dip_within(length_s, rng, g);
}

}  // namespace

bool follows_without_rest(std::span<const PlannedNote> song, size_t i) {
  return i > 0 && i < song.size() && (song[i].join == Join::kSlur || song[i].join == Join::kDip);
}

Gesture draw_gesture(std::span<const PlannedNote> song, size_t i, const Singer& singer, Rng& rng) {
  const PlannedNote& note = song[i];
  const double length_s = note.end_s - note.start_s;
  Gesture g{.start_s = note.start_s, .end_s = note.end_s};
  g.attack_s = std::min(singer.attack_s * rng.uniform(0.6, 1.5), 0.45 * length_s);
  g.release_s = std::min(singer.release_s * rng.uniform(0.6, 1.5), 0.45 * length_s);
  g.gain = audio::from_db(note.level_db);
  g.swell_db = length_s > 0.25 ? 4 * rng.normal() : 0;
  const bool follows = follows_without_rest(song, i),
             is_followed = follows_without_rest(song, i + 1);
  const double interval = follows ? song[i - 1].pitch - note.pitch : 0;
  draw_beginning(length_s, follows && note.join == Join::kSlur, interval, singer, rng, g);
  if (follows) draw_glide(song[i - 1], note, singer, rng, g);
  draw_ornaments(length_s, is_followed, singer, rng, g);
  if (note.join == Join::kDip) g.floor_before = audio::from_db(-note.dip_db);
  if (note.join == Join::kSlur) g.floor_before = 1;
  if (i + 1 < song.size()) {
    const PlannedNote& next = song[i + 1];
    if (next.join == Join::kDip) g.floor_after = audio::from_db(-next.dip_db);
    if (next.join == Join::kSlur) g.floor_after = 1;
  }
  return g;
}

double level_of(const Gesture& g, double time_s) {
  const double since_s = time_s - g.start_s, left_s = g.end_s - time_s;
  if (since_s < 0 || left_s < 0) return 0;
  const double rise = g.floor_before + (1 - g.floor_before) * std::min(1.0, since_s / g.attack_s);
  const double fall = g.floor_after + (1 - g.floor_after) * std::min(1.0, left_s / g.release_s);
  const double length_s = g.end_s - g.start_s;
  double db = g.swell_db * (since_s / length_s - 0.5);
  if (g.vibrato_semitones > 0 && since_s > g.vibrato_from_s) {
    db += g.vibrato_db * std::sin(kTwoPi * (g.vibrato_hz * since_s + g.phase) + 1);
  }
  db -= g.dip_db * depth_of_dip(g, since_s);
  return g.gain * audio::from_db(db) * std::min(rise, fall);
}

double ornament_semitones(const Gesture& g, double time_s) {
  const double since_s = time_s - g.start_s, left_s = g.end_s - time_s;
  double semitones = g.dip_semitones * depth_of_dip(g, since_s);
  if (g.scoop != 0 && since_s < g.scoop_s) {
    const double x = std::max(0.0, since_s - g.scoop_held_s) / (g.scoop_s - g.scoop_held_s);
    const double bend = 1 + 2 * std::abs(g.scoop_shape);
    semitones -= g.scoop * (g.scoop_shape > 0 ? std::pow(1 - x, bend) : 1 - std::pow(x, bend));
  }
  if (g.creep != 0 && since_s < g.creep_s) {
    semitones += g.creep * std::pow(1 - std::max(0.0, since_s) / g.creep_s, 1.5);
  }
  if (g.fall > 0 && left_s < g.fall_s) {
    semitones -= g.fall * std::pow(1 - std::max(0.0, left_s) / g.fall_s, 2);
  }
  if (g.vibrato_semitones > 0) {
    const double depth = std::clamp((since_s - g.vibrato_from_s) / 0.15, 0.0, 1.0) *
                         std::clamp(left_s / 0.05, 0.0, 1.0);
    semitones +=
        g.vibrato_semitones * depth * std::sin(kTwoPi * (g.vibrato_hz * since_s + g.phase));
  }
  return semitones;
}

double glide_semitones(const Gesture& g, double time_s) {
  if (g.glide_s <= 0) return 0;
  const double x = (time_s - g.glide_at_s) / g.glide_s;
  double left = 1 - smooth_step(x);
  if (g.overshoot > 0 && x > 0.5) {
    left -= g.overshoot * std::sin(std::numbers::pi * std::min(x - 0.5, 1.0));
  }
  return g.from * left;
}

}  // namespace hum::data

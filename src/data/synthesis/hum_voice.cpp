#include "data/synthesis/hum_voice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "audio/loudness.h"
#include "base/error.h"
#include "base/rng.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/harmonics.h"
#include "data/synthesis/level.h"
#include "data/synthesis/pitch_curve.h"
#include "data/synthesis/sung_note.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/wander.h"

namespace hum::data {
namespace {

constexpr double kControl_s = static_cast<double>(kControlSamples) / kSampleRate;
constexpr int kFormants = 3;

struct Vowel {
  std::array<double, kFormants> hz, width_hz;
};
// Hum ("mm"), "oo", "uh", "ah", "ee". Source: Peterson & Barney 1952 for the vowels, male, rounded.
constexpr std::array<Vowel, 5> kVowels = {{{{270, 1000, 2200}, {60, 300, 400}},
                                           {{300, 870, 2240}, {60, 100, 150}},
                                           {{520, 1190, 2390}, {70, 110, 160}},
                                           {{730, 1090, 2440}, {80, 110, 160}},
                                           {{280, 2200, 2900}, {60, 120, 180}}}};

// The parameters that are constant during a performance.
struct Singer {
  const Vowel* vowel;
  double formant_scale;  // 1: the table's voice; above: a smaller one
  double tuning;         // semitones
  double glide_s;        // time constant of pitch between notes
  double vibrato, vibrato_hz;
  double drift;  // semitones
  double attack_s, release_s;
  double consonant;     // depth of the level's dip between slurred notes
  double breath, room;  // levels of noise
  double jitter_s;
  bool legato;

  Singer(Rng& rng, const HumManner& manner)
      : vowel(&kVowels[rng.integer(0, static_cast<int64_t>(kVowels.size()) - 1)]),
        formant_scale(rng.uniform(0.95, 1.2)),
        tuning(rng.uniform(-0.15, 0.15)),
        glide_s(rng.uniform(0.012, 0.04)),
        vibrato(rng.chance(0.5) ? rng.uniform(0.1, 0.3) : 0),
        vibrato_hz(rng.uniform(4.5, 6.5)),
        drift(rng.uniform(0, 0.2)),
        attack_s(rng.uniform(0.015, 0.06)),
        release_s(rng.uniform(0.03, 0.09)),
        consonant(rng.uniform(0.4, 0.95)),
        breath(audio::from_db(rng.uniform(-40, -26))),
        room(audio::from_db(rng.uniform(-70, -46))),
        jitter_s(rng.uniform(0, 0.02)),
        legato(manner.legato) {
    if (manner.exact_onsets) jitter_s = 0;
    if (manner.tuning_cents) tuning = *manner.tuning_cents / 100;
  }
};

// The melody as sung: one voice, with slightly moved onsets and loudness as a gain.
struct VoicedNote {
  double start_s, end_s, gain;
  audio::Note written;
  PitchCurve pitch;
};

bool is_slurred(const VoicedNote& from, const VoicedNote& to) {
  return to.start_s - from.end_s < 0.03;
}

std::vector<VoicedNote> voiced_notes(std::span<const audio::Note> notes, const Singer& singer,
                                     Rng& rng) {
  std::vector<audio::Note> top(notes.begin(), notes.end());
  std::ranges::stable_sort(
      top, {}, [](const audio::Note& note) { return std::make_pair(note.start_s, -note.pitch); });
  std::vector<VoicedNote> sung;
  double earliest_s = -1;
  for (const auto& note : top) {
    if (note.start_s < earliest_s) continue;  // under another note: a chord's lower voice
    const double velocity = note.amplitude * 127;
    const double gain = audio::from_db((velocity - kVelocityMiddle) / kVelocityPerDb);
    const double start_s = std::max(0.0, note.start_s + singer.jitter_s * rng.normal());
    const double end_s = std::max(start_s + 0.05, note.end_s);
    if (!sung.empty()) sung.back().end_s = std::min(sung.back().end_s, start_s);
    sung.push_back({start_s, end_s, gain, note, PitchCurve(note)});
    earliest_s = note.start_s + 0.05;
  }
  return sung;
}

// The level at the start of a slurred note; in legato also at the end of the previous one.
double level_between(const VoicedNote& from, const VoicedNote& to, const Singer& singer) {
  return singer.legato && from.written.pitch != to.written.pitch ? 1 : 1 - singer.consonant;
}

// `before` and `after` are null at the ends of the melody.
double note_level(double gain, const VoicedNote* before, const VoicedNote& note,
                  const VoicedNote* after, double time_s, const Singer& singer) {
  const double since_s = time_s - note.start_s;
  const double left_s = note.end_s - time_s;
  const double rise = std::clamp(since_s / singer.attack_s, 0.0, 1.0);
  const double fall = std::clamp(left_s / singer.release_s, 0.0, 1.0);
  const bool follows = before != nullptr && is_slurred(*before, note);
  const bool goes_on = singer.legato && after != nullptr && is_slurred(note, *after);
  const double low = follows ? level_between(*before, note, singer) : 0;
  const double end = goes_on ? level_between(note, *after, singer) : 0;
  return gain * (low + (1 - low) * rise) * (end + (1 - end) * fall);
}

// Pitch and level of the whole performance, on control points.
HarmonicVoice performance(const std::vector<VoicedNote>& notes, double seconds,
                          const Singer& singer, Rng& rng) {
  const Wander drift(rng, 0.2, 2);
  const double keep = std::exp(-kControl_s / singer.glide_s);
  HarmonicVoice voice;
  size_t current = 0;
  double pitch = notes.front().pitch.at(0), gain = notes.front().gain;
  for (double time_s = 0; time_s < seconds + kControl_s; time_s += kControl_s) {
    while (current + 1 < notes.size() && notes[current + 1].start_s <= time_s) ++current;
    const VoicedNote& note = notes[current];
    const bool inside = time_s >= note.start_s && time_s < note.end_s;
    const VoicedNote* before = current > 0 ? &note - 1 : nullptr;
    const VoicedNote* after = current + 1 < notes.size() ? &note + 1 : nullptr;
    gain = note.gain + (singer.legato ? keep * (gain - note.gain) : 0);
    pitch = note.pitch.at(time_s) + keep * (pitch - note.pitch.at(time_s));
    const double swell = std::clamp((time_s - note.start_s - 0.15) / 0.2, 0.0, 1.0);
    const double vibrato =
        singer.vibrato * swell * std::sin(2 * std::numbers::pi * singer.vibrato_hz * time_s);
    const double sung = pitch + singer.tuning + vibrato + singer.drift * drift.at(time_s);
    voice.hz.push_back(static_cast<float>(audio::midi_to_hz(sung)));
    voice.gain.push_back(
        inside ? static_cast<float>(note_level(gain, before, note, after, time_s, singer)) : 0.0F);
  }
  return voice;
}

// Where a note begins; nothing if the voice only wavers and the note before goes on.
std::optional<double> onset_s(const VoicedNote* before, const VoicedNote& note,
                              const Singer& singer) {
  const bool follows = before != nullptr && is_slurred(*before, note);
  const double low = follows ? level_between(*before, note, singer) : 0;
  if (low > audio::from_db(-kRepeatDip_db)) {
    if (before->written.pitch == note.written.pitch) return std::nullopt;
    return note.start_s + singer.glide_s * std::numbers::ln2;  // half-way there
  }
  return note.start_s + edge_of_ramp_s(singer.attack_s, low);
}

// Two poles with gain 1 at 0 Hz, in place. Source: Klatt 1980, equation 2.
void resonate(std::span<float> samples, double hz, double width_hz) {
  const double radius = std::exp(-std::numbers::pi * width_hz / kSampleRate);
  const double b = 2 * radius * std::cos(2 * std::numbers::pi * hz / kSampleRate);
  const double c = -radius * radius;
  const double a = 1 - b - c;
  double y1 = 0;
  double y2 = 0;
  for (float& sample : samples) {
    const double y = a * sample + b * y1 + c * y2;
    y2 = y1;
    y1 = y;
    sample = static_cast<float>(y);
  }
}

// Breath noise follows the voice, and is an inhalation during rests.
void add_breath(const HarmonicVoice& voice, std::span<const float> noise, double level,
                std::span<float> out) {
  double drawn_in = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const double gain = voice.gain[i / kControlSamples];
    drawn_in += (gain == 0 ? 1.0 : -8.0) / kSampleRate / 0.25;
    drawn_in = std::clamp(drawn_in, 0.0, 1.0);
    out[i] += static_cast<float>(level * (gain + 0.5 * drawn_in)) * noise[i];
  }
}

}  // namespace

std::vector<audio::Note> notes_of_hum(std::span<const audio::Note> notes, uint64_t seed,
                                      uint64_t index, const HumManner& manner) {
  Rng rng(seed, "hum", index);
  const Singer singer(rng, manner);
  std::vector<audio::Note> result;
  const VoicedNote* before = nullptr;
  const auto voiced = voiced_notes(notes, singer, rng);
  for (const VoicedNote& note : voiced) {
    if (const auto start_s = onset_s(before, note, singer)) {
      if (before != nullptr && is_slurred(*before, note)) result.back().end_s = *start_s;
      result.push_back(note.written);
      result.back().start_s = *start_s;
    }
    result.back().end_s = note.end_s;
    before = &note;
  }
  return result;
}

std::vector<float> render_hum(std::span<const audio::Note> notes, double seconds, uint64_t seed,
                              uint64_t index, const HumManner& manner) {
  HUM_REQUIRE(seconds > 0, "render_hum: length must be positive, got {} s", seconds);
  std::vector<float> out(sample_of(seconds));
  Rng rng(seed, "hum", index);
  const Singer singer(rng, manner);
  std::vector<float> noise(out.size());
  render_noise(seed, index, noise);
  const auto sung = voiced_notes(notes, singer, rng);
  if (!sung.empty()) {
    const auto voice = performance(sung, seconds, singer, rng);
    add_harmonics(voice, {.exponent = 1}, out);
    add_breath(voice, noise, singer.breath, out);
    for (int i = 0; i < kFormants; ++i) {
      resonate(out, singer.vowel->hz[i] * singer.formant_scale, singer.vowel->width_hz[i]);
    }
    normalise_level(out);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    // The room's noise is the same stream backwards: independent of the breath at any one time.
    out[i] += static_cast<float>(kTargetRms * singer.room) * noise[out.size() - 1 - i];
  }
  return out;
}

}  // namespace hum::data

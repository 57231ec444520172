// Sounds of the synthesizer: two oscillators through a filter, or two pairs of frequency
// modulation; and random ones for the stems lead and chordal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace hum::data {

enum class Wave { kSine, kTriangle, kSaw, kPulse };

// A gain over time: a linear attack to 1, exponential decay to `sustain`, and a release that is 0
// from the note's end + release_s on.
struct Envelope {
  double attack_s = 0.005, decay_s = 0.3, sustain = 0.7, release_s = 0.1;

  // Of a note held for held_s, since_s after its start.
  double at(double since_s, double held_s) const;
};

struct Oscillator {
  Wave wave = Wave::kSaw;
  double level = 1;
  int semitones = 0;
  double cents = 0;
  double width = 0.5;  // of a pulse: the share of the period in which it is high
};

// A sine whose phase is moved by a sine. Frequencies are multiples of the note's; whole ones keep
// its pitch.
struct FmPair {
  double carrier = 1, modulator = 1;
  double level = 1;
  double index = 2;      // radians, at the note's start
  double decay_s = 0.5;  // time constant of the index
  double sustain = 0.3;  // share of the index that stays
};

// Copies of the oscillators, detuned evenly and spread over the stereo field.
struct Unison {
  int voices = 1;
  double detune_cents = 0;  // of the outermost, either way
  double width = 0;         // 0: all in the middle; 1: the outermost in one channel each
};

// Low-pass. The cutoff never falls below 1.5 times the note's frequency.
struct SynthFilter {
  bool is_steep = false;        // 24 dB per octave, else 12
  double cutoff_hz = 2000;      // of MIDI pitch 60
  double resonance = 0.7;       // Q
  double key_tracking = 0.5;    // octaves per octave
  double envelope_octaves = 0;  // at the envelope's peak
  double velocity_octaves = 0;  // of amplitude 1 against amplitude 0.63
  Envelope envelope = {};
};

// A slow sine on the song's clock, which sets in after each note's start.
struct Lfo {
  double hz = 5, delay_s = 0.2;
  double pitch_cents = 0, cutoff_octaves = 0, level_db = 0;  // either way
};

struct SynthPreset {
  std::array<Oscillator, 2> oscillators = {Oscillator{}, Oscillator{.level = 0}};
  std::optional<std::array<FmPair, 2>> fm = {};  // in place of the oscillators
  Unison unison = {};
  std::optional<SynthFilter> filter = {};
  Envelope loudness = {};
  Lfo lfo = {};
  double glide_s = 0;   // from the note before, if it has just ended
  double drive_db = 0;  // 0: none
};

enum class SynthRole { kLead, kChordal };

// Preset (seed, index) for a role; the same arguments give the same preset on every machine. All
// keep the note's pitch: no octaves below, no inharmonic partials.
SynthPreset draw_synth_preset(SynthRole role, uint64_t seed, uint64_t index);

}  // namespace hum::data

// Composes melodies for training, with modes, rhythm, dynamics, articulation, bends and chords.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "audio/notes.h"
#include "data/synthesis/presets.h"

namespace hum::data {

enum class Mode : int { kIonian, kDorian, kPhrygian, kLydian, kMixolydian, kAeolian, kLocrian };
inline constexpr int kModes = 7;
std::string_view mode_name(Mode mode);

// Semitone of a degree (0..6) above the tonic.
int mode_semitone(Mode mode, int degree);

struct MelodyOptions {
  double seconds = 6;             // notes start before this and end at the latest then
  double expressive_share = 0.5;  // of melodies with bends, vibrato and glides
  double chord_share = 0.3;       // of melodies with chords, on polyphonic presets
};

struct Melody {
  std::vector<audio::Note> notes;  // in order of start; the notes of a chord start together
  Mode mode = Mode::kIonian;
  int tonic = 0;  // pitch class
  double tempo_bpm = 120;
  bool expressive = false;
  bool chords = false;
};

// Composes melody (seed, index) for a preset, within its range; amplitude = velocity / 127, with
// median velocity 80 within 40..120. The same arguments give the same melody on every machine.
Melody make_melody(uint64_t seed, uint64_t index, const Preset& preset,
                   const MelodyOptions& options = {});

}  // namespace hum::data

// Melodies over an accompaniment that is already there.
#pragma once

#include <cstdint>
#include <vector>

#include "audio/notes.h"
#include "base/rng.h"
#include "data/stems/stem_options.h"
#include "data/synthesis/presets.h"

namespace hum::data {

// Draws an instrument that the rules of roles.h can take for a lead. The held-out presets are those
// of the split kHeldOut.
const Preset& draw_lead_preset(Split split, Rng& rng);

struct MelodyPlace {
  int key = 0;  // pitch class of the tonic
  bool is_minor = false;
  double tempo_bpm = 120;
  double seconds = 60;
};

// Melody (seed, index) for a preset, by make_melody, moved to a key, tempo and length: its mode is
// one of the key's gender, its beats are those of the tempo, its notes end by `seconds`.
std::vector<audio::Note> melody_at(const MelodyPlace& place, const Preset& preset, uint64_t seed,
                                   uint64_t index);

}  // namespace hum::data

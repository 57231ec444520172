// Instruments that no sound font holds: a preset with another one in unison, both through an
// equaliser. Models that are to follow any timbre reference hear more timbres than there are
// presets.
#pragma once

#include <span>
#include <vector>

#include "audio/channels.h"
#include "audio/equaliser.h"
#include "audio/notes.h"
#include "base/rng.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/presets.h"

namespace hum::data {

struct PresetVariant {
  const Preset* preset = nullptr;
  const Preset* unison = nullptr;  // plays along
  double unison_db = 0;            // its level against the preset's, both as active_rms
  std::vector<audio::EqualiserBand> colour;
};

// One to four bands between 150 Hz and 6 kHz, each of at most 12 dB.
std::vector<audio::EqualiserBand> draw_colour(Rng& rng);

// The notes on that instrument, at an arbitrary level. A variant that changes nothing is the preset
// as the font has it. Shapes: [seconds * 22050, channels], interleaved. Throws: as
// FluidRenderer::render.
std::vector<float> render_variant(FluidRenderer& renderer, const PresetVariant& variant,
                                  std::span<const audio::Note> notes, double seconds,
                                  audio::Channels channels = audio::Channels::kMono);

}  // namespace hum::data

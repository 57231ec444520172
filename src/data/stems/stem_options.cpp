#include "data/stems/stem_options.h"

#include "base/bounds.h"
#include "data/stems/songs.h"
#include "data/synthesis/sound_fonts.h"

namespace hum::data {

void validate(const StemOptions& options) {
  const Bounds bounds("stems.");
  bounds.require("seconds", options.seconds, 1, 60);
  bounds.require("held_out_share", options.held_out_share, 0, 1);
  bounds.require("sung_share", options.sung_share, 0, 1);
  bounds.require("synth_share", options.synth_share, 0, 1);
  bounds.require("mma_share", options.mma_share, 0, 1);
  bounds.require("own_share", options.own_share, 0, 1 - options.mma_share + 1e-9);
  bounds.require("sound_fonts", std::ssize(options.sound_fonts), !options.sound_fonts.empty(),
                 "name one or more");
  for (const auto& name : options.packages) song_package(name);
  for (const auto& name : options.sound_fonts) find_sound_font(name);
  for (const auto& name : options.drum_fonts) find_drum_font(name);
}

}  // namespace hum::data

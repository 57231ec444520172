// How the parts of a window sound: draws an instrument for each and plays it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "audio/buffer.h"
#include "audio/midi.h"
#include "base/json.h"
#include "base/rng.h"
#include "data/stems/stem_options.h"
#include "data/stems/window_parts_impl.h"
#include "data/synthesis/fluid.h"

namespace hum::data::internal {

// What a part plays on.
struct PartSound {
  audio::AudioBuffer sound;  // stereo, kStemRate
  Json instrument;           // for .meta.json
};

// Its fonts are loaded when they are first drawn.
class PartPlayer {
 public:
  // Throws: kNoInput for a font that is not installed.
  explicit PartPlayer(const StemOptions& options);

  // `part`: of the song; `number`: what distinguishes its draws from those of all other parts.
  // The same number gives the same instrument.
  PartSound play(const WindowPart& notes, const audio::MidiPart& part, double seconds,
                 uint64_t number);

 private:
  struct Font {
    std::string name;
    std::filesystem::path path;
    std::unique_ptr<FluidRenderer> renderer;

    FluidRenderer& open();
  };

  PartSound play_drums(const WindowPart& notes, const audio::MidiPart& part, double seconds,
                       Rng& rng);
  PartSound play_font(const WindowPart& notes, int program, double seconds, Rng& rng);
  PartSound play_synth(const WindowPart& notes, double seconds, uint64_t number);

  StemOptions options_;
  std::vector<Font> fonts_, drum_fonts_;
};

}  // namespace hum::data::internal

// Renders a window of a song as six stems, each apart from the others. Their sum is the mixture.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "audio/notes.h"
#include "base/json.h"
#include "data/stems/roles.h"
#include "data/stems/song_source.h"
#include "data/stems/stem_options.h"

namespace hum::data {

struct StemWindow {
  uint64_t index = 0;
  // By stem, in the order of kStems: interleaved stereo at kStemRate, [frames, 2], as it is stored.
  // Empty: silent.
  std::array<std::vector<int16_t>, kStemCount> stems;
  // The notes that start in the window, by stem, on its clock.
  std::array<std::vector<audio::Note>, kStemCount> notes;
  // The song, the place of the window, and how each part sounds: the contents of .meta.json.
  Json description;
};

// Renders one window at a time; use one renderer per thread, because it loads sound fonts.
class StemRenderer {
 public:
  // `source` must outlive it. Throws: kNoInput for a font that is not installed, and what
  // validate() throws.
  StemRenderer(const StemOptions& options, const SongSource& source);
  ~StemRenderer();
  StemRenderer(StemRenderer&&) noexcept;

  // Window (seed, index). The rules of roles.h say which stem each note belongs to; in sung_share
  // of the songs a voice sings the lead. A part keeps its sound for the whole window: a program of
  // a drawn font, a drum kit, a preset of the synthesizer, a singer. Effects are those of
  // effects.h. Stems have their usual balance within some dB; neither they nor their sum reach full
  // scale. Stems below -60 dBFS are silent.
  StemWindow render(uint64_t index);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data

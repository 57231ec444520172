// Which notes of a song a window renders, by part and stem.
#pragma once

#include <vector>

#include "audio/midi.h"
#include "base/rng.h"
#include "data/stems/roles.h"

namespace hum::data::internal {

// Rendered before a window and cut off, so that notes and rooms ring into it.
inline constexpr double kLeadIn_s = 3;

// The notes of a part that belong to one stem, on the clock of the rendering, whose window begins
// at kLeadIn_s.
struct WindowPart {
  size_t part = 0;
  Stem stem = Stem::kOther;
  std::vector<audio::Note> notes;
};

// Those that sound between the lead-in and the window's end, in order of part and stem.
std::vector<WindowPart> window_parts(const audio::MidiSong& song,
                                     const std::vector<PartRoles>& roles, double start_s,
                                     double seconds);

// A bar line after which the song lasts `seconds`, or 0. Of a few drawn ones, that with the most
// stems.
double draw_window(const audio::MidiSong& song, const std::vector<PartRoles>& roles, double seconds,
                   Rng& rng);

}  // namespace hum::data::internal

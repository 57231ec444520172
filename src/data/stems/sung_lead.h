// Sings the notes of a lead, as the stem `vocals`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "audio/buffer.h"
#include "audio/notes.h"

namespace hum::data {

// The highest line of the notes, in order, without overlaps.
std::vector<audio::Note> top_line(std::span<const audio::Note> notes);

struct SungLead {
  audio::AudioBuffer sound;  // stereo, kStemRate; nothing above 11 kHz; normalise_level's level
  std::string voice;         // the kind of voice, or "hum": render_hum
};

// Singer (seed, index) sings syllables on the top line, in the octave of its range; one singer in
// seven hums.
SungLead sing_lead(std::span<const audio::Note> notes, double seconds, uint64_t seed,
                   uint64_t index);

}  // namespace hum::data

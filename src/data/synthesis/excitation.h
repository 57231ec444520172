// Renders the input of the guided decoder: the harmonics of the melody, and white noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

// How long a note fades after its end, so that the decoder can shape a release. A longer tail, for
// what rings on, is a decay.
inline constexpr double kExcitationTail_s = 0.25;
// The slope of such a decay is this many dB over its tail, before it bends to silence at the end.
inline constexpr double kExcitationDecay_db = 60;
// The next note of a line damps the tail before it: from its onset to silence in this time. A note
// is the next one if it starts at most kLegato_s before the end. Without it, onsets are hidden by
// what rings on.
inline constexpr double kDamping_s = 0.03;
inline constexpr double kLegato_s = 0.05;

// Renders the band-limited harmonics of all notes, harmonic k at kExcitationLevel / sqrt(k), with
// their bends. The level does not depend on the note's amplitude, because the decoder sets the
// loudness. A tail of at most kExcitationTail_s is half a cosine, a longer one decays
// exponentially. Notes may start before 0 and end after the last sample; the parts outside are cut
// without a change of phase inside. Shapes: [samples]. Units: 22,050 Hz.
inline constexpr double kExcitationLevel = 0.2;
std::vector<float> render_excitation(std::span<const audio::Note> notes, int64_t samples,
                                     double tail_s = kExcitationTail_s);

// The same into the caller's buffer, which is overwritten.
void render_excitation(std::span<const audio::Note> notes, std::span<float> out,
                       double tail_s = kExcitationTail_s);

// White noise, uniform with standard deviation 1; the same for the same (seed, index) on every
// machine.
void render_noise(uint64_t seed, uint64_t index, std::span<float> out);

}  // namespace hum::data

// What the guided decoder shapes into an instrument: the harmonics of the melody, and white noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

// How long a note goes on sounding past its end, fading, so that the decoder can shape a release.
inline constexpr double kExcitationTail_s = 0.25;

// The band-limited harmonics of all notes, harmonic k at kExcitationLevel / sqrt(k), following the
// bends. The level does not depend on the note's amplitude: loudness is the decoder's to give.
// Notes may start before 0 and end after the last sample; what lies outside is cut, without a
// change of phase inside. Shapes: [samples]. Units: 22,050 Hz.
inline constexpr double kExcitationLevel = 0.2;
std::vector<float> render_excitation(std::span<const audio::Note> notes, int64_t samples);

// The same, into a caller's buffer, which is overwritten.
void render_excitation(std::span<const audio::Note> notes, std::span<float> out);

// White noise, uniform with standard deviation 1: the same for the same (seed, index) everywhere.
void render_noise(uint64_t seed, uint64_t index, std::span<float> out);

}  // namespace hum::data

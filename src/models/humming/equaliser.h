// The levels of a sound's frequency bands, and their correction by what hum misses of a reference's
// bands after the latents' own correction (models/humming/residual.h).
//
// F frames of 441 samples at 22,050 Hz, M melody features.
#pragma once

#include <span>
#include <vector>

#include "models/humming/note_levels.h"
#include "models/humming/residual.h"

namespace hum::models::humming {

// Triangles on the mel scale (Slaney's) from 0 to 11,025 Hz.
inline constexpr int kBands = 48;
// No correction raises a band by more, nor lowers a band relative to the others by more.
inline constexpr float kMaxBandGain_db = 15;

// A note's levels or gains as they are `semitones` higher, if each harmonic keeps its own: they
// move along the frequencies. Shapes: [kBands] -> [kBands].
std::vector<double> moved_bands(const std::vector<double>& bands, double semitones);

// Of the bands of a clip, which may be one note: most of its colour is in the levels of harmonics
// (docs/experiments.md, 16).
inline constexpr ResidualRule kBandRule{
    .pitch_scale_semitones = 6, .from_nearest = true, .shrink_frames = 3, .moved = moved_bands};

// Log-mel energies in dB, not more than 80 dB below the largest of all frames.
// Shapes: samples [F 441] -> [F, kBands].
std::vector<float> band_levels(std::span<const float> samples);

// What hum misses of a reference's bands. While a note sounds, its colour, which is the bands'
// levels relative to the frame's, is that of its phase, and its level that of its age.
class BandCorrection {
 public:
  // Shapes: the reference and what hum plays of its notes [F 441], melody [F, M] with
  // kAllMelodyFeatures. is_used [F]: 0 leaves a frame out.
  BandCorrection(std::span<const float> truth, std::span<const float> played,
                 std::span<const float> melody, std::span<const uint8_t> is_used);
  // In dB, of `share` of the correction. Rests are only made quieter, and fade. Shapes: melody [F,
  // M] -> [F, kBands].
  std::vector<float> gains_db(std::span<const float> melody, int64_t frames, double share) const;

 private:
  // The levels alone. Shapes: melody [F, M] -> [F, kBands].
  std::vector<float> levels_db(std::span<const float> melody, int64_t frames) const;

  Residual colour_;    // of rests: what the levels leave of the bands
  NoteLevels levels_;  // of what the colour leaves
};

// Corrects a sound that plays this melody: a zero-phase filter, which interpolates between the
// bands' centres. A sample depends on samples and gains within 80 ms. Shapes: samples [F 441],
// melody [F, M] with kAllMelodyFeatures.
void correct_bands(std::vector<float>& samples, std::span<const float> melody,
                   const BandCorrection& correction, double share);

}  // namespace hum::models::humming

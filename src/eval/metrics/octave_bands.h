// Compares the spectral balance of two sounds: energy in octave bands, in dB.
#pragma once

#include <span>
#include <vector>

namespace hum::eval {

struct OctaveBand {
  double center_hz = 0;  // 31.25, 62.5 ... ; the band reaches half an octave to either side
  double reference_db = 0, estimate_db = 0;  // energy; a full-scale sine is -3 dB
  double difference_db() const { return estimate_db - reference_db; }
};

// Mean power of each band up to half the rate; zeros for silence. The average over clips of equal
// length is that of the clips as one sound, except at the clips' edges. Shapes: mono samples of any
// length.
std::vector<double> octave_powers(std::span<const float> samples, int rate_hz);

// Does not normalise levels. Energy below -200 dB is -200 dB. Shapes: the powers of octave_powers.
std::vector<OctaveBand> octave_bands(std::span<const double> reference_powers,
                                     std::span<const double> estimate_powers);

// The same for two sounds of any lengths.
std::vector<OctaveBand> octave_bands(std::span<const float> reference,
                                     std::span<const float> estimate, int rate_hz);

// The largest |difference| over the bands where the reference is within range_db of its strongest
// band.
double octave_band_difference_db(std::span<const OctaveBand> bands, double range_db = 40);

}  // namespace hum::eval

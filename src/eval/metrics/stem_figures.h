// Figures of a separated stem over its whole length. All channels count alike: sounds are compared
// as one list of interleaved samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/buffer.h"

namespace hum::eval {

// A frame, or a stem, with a lower level is silent.
inline constexpr double kSilence_dbfs = -50;

// 10 log10(sum s^2 / sum (s - e)^2) of the reference s. +infinity for a copy, NaN when the
// reference is all zeros; 0 for an estimate of zeros. Throws: kFailure when the lengths differ.
// Source: the Music Demixing Challenge, Mitsufuji et al. 2021, without its small constants.
double sdr_db(std::span<const float> reference, std::span<const float> estimate);

// The root of the mean square relative to full scale, in dB; -infinity for zeros.
double level_dbfs(std::span<const float> samples);

// The level of the estimate over all whole frames in which the reference is silent; NaN if there is
// none. A sound shorter than a frame is one frame.
double level_in_silence_dbfs(const audio::AudioBuffer& reference,
                             const audio::AudioBuffer& estimate, int64_t frame_samples);

// The level of the other stems in the estimate of references[stem], relative to their level in the
// mixture: 0 for the mixture itself, -20 if a tenth of the others is left in the estimate. Each
// reference has one gain, by least squares. NaN if no other stem sounds, -infinity if nothing of
// them is left.
class Bleed {
 public:
  // All of the same length. They must outlive it.
  explicit Bleed(std::span<const audio::AudioBuffer> references);
  double db(size_t stem, const audio::AudioBuffer& estimate) const;

 private:
  std::span<const audio::AudioBuffer> references_;
  std::vector<double> products_;  // of each two references
};

}  // namespace hum::eval

// What separated stems are measured against: floors that know next to nothing, and ceilings that
// know the true stems and filter the mixture. All masks are of one STFT, kMaskStft.
#pragma once

#include <span>
#include <vector>

#include "audio/buffer.h"
#include "audio/dsp.h"

namespace hum::eval {

inline constexpr audio::StftOptions kMaskStft{.window_samples = 4096, .hop_samples = 1024};

// The sum of the stems. Rates, lengths and channel counts must agree.
audio::AudioBuffer sum_of(std::span<const audio::AudioBuffer> stems);

// Floor: the mixture times the gain that brings it nearest to the stem, which the floor knows. Its
// SDR is never below that of silence, 0 dB.
audio::AudioBuffer best_scaled(const audio::AudioBuffer& mixture, const audio::AudioBuffer& stem);

// Floor: what is steady in time and what is sudden. Medians over 17 frames and over 17 bins of the
// mixture's mean magnitude, masks of their squares, which add up to 1.
// Source: Fitzgerald 2010, "Harmonic/percussive separation using median filtering".
struct SteadyAndSudden {
  audio::AudioBuffer steady, sudden;
};
SteadyAndSudden steady_and_sudden(const audio::AudioBuffer& mixture);

enum class MaskChannels {
  kEach,  // a mask per channel
  kOne,   // one mask for all channels, from the sums of their powers
};

// Ceilings. Shapes: one estimate per stem. Source: the definitions of sigsep-mus-oracle.
// IBM: the bins in which the stem has at least half of the mixture's power.
std::vector<audio::AudioBuffer> ideal_binary_masks(const audio::AudioBuffer& mixture,
                                                   std::span<const audio::AudioBuffer> stems);
// IRM: the stem's share of the stems' powers.
std::vector<audio::AudioBuffer> ideal_ratio_masks(const audio::AudioBuffer& mixture,
                                                  std::span<const audio::AudioBuffer> stems,
                                                  MaskChannels channels = MaskChannels::kEach);
// MWF: the multichannel Wiener filter of the stems' powers and, per bin, spatial covariances. At
// most 8 channels.
std::vector<audio::AudioBuffer> ideal_wiener_filters(const audio::AudioBuffer& mixture,
                                                     std::span<const audio::AudioBuffer> stems);

}  // namespace hum::eval

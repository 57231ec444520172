// Sounds as spectra of their channels, for the masks of this folder.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "audio/buffer.h"
#include "audio/dsp.h"

namespace hum::eval {

// Shapes: per channel [frames, bins] of kMaskStft.
using Spectra = std::vector<audio::Matrix<std::complex<float>>>;

Spectra spectra_of(const audio::AudioBuffer& sound);
// As long as `like`, at its rate.
audio::AudioBuffer sound_of(const Spectra& spectra, const audio::AudioBuffer& like);

// Throws: kFailure unless all stems have the mixture's rate, length and channel count.
void require_alike(const audio::AudioBuffer& mixture, std::span<const audio::AudioBuffer> stems);

}  // namespace hum::eval

// Short-time spectra of a waveform, and the way back, in one pass over memory each: framing,
// window and transform together.
#pragma once

#include <source_location>
#include <span>

#include "graph/ops/spectral.h"
#include "graph/value.h"

namespace hum::kernels {

// graph::stft: spectra of windowed frames that lie wholly inside x.
// Shapes: x_BN f32 -> two of [B, (N - n) / hop + 1, n/2 + 1], n the window's length.
graph::Spectrum stft(const graph::Value& x_BN, std::span<const float> window, int64_t hop,
                     std::source_location where = std::source_location::current());

// Overlap-added windowed inverse transforms: sum over frames of window * irfft(spectrum), not
// divided by the windows' sum.
// Shapes: two of [B, T, n/2 + 1] f32 -> [B, (T - 1) hop + n].
graph::Value overlapped_irfft(const graph::Spectrum& spectrum, std::span<const float> window,
                              int64_t hop,
                              std::source_location where = std::source_location::current());

}  // namespace hum::kernels

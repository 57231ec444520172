// Short-time spectra of a waveform and their inverse, each in one pass over memory: framing, window
// and transform together.
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

// The custom calls, for kernels/table.cpp.
struct Kernel;
// (x[B,N], window[n]) -> (real, imag [B,T,n/2+1]); settings: hop.
extern const Kernel kStftKernel;
// The adjoint, (real, imag [B,T,n/2+1], window[n]) -> x[B,N]; settings: hop, inverse. With inverse
// the bins are weighted so that each frame is window * irfft.
extern const Kernel kStftAdjointKernel;

}  // namespace hum::kernels

// The custom calls of mel_spectrum, for the kernel table. A bin counts weights[bin, 0] in band
// first[bin] and weights[bin, 1] in the next one; settings: hop, epsilon.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (x[B,N], window[n], first i32[F], weights f32[F,2]) -> (bands[B,T,M]), and magnitude[B,T,F] when
// there are two results
extern const pjrt::KernelRow kMelSpectrumRow;
// (x, window, first, weights, dbands), and dmagnitude when there are six -> dx
extern const pjrt::KernelRow kMelSpectrumGradRow;

// Whether the kernel, either of them, gains on plain ops here.
bool mel_spectrum_available(const graph::Node& node);

}  // namespace hum::kernels

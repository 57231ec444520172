// Mel spectra directly from a waveform: spectra and magnitudes are never stored, and the gradient
// recomputes them.
//
// B batch, N samples, T frames, F = n/2 + 1 bins of a window of n samples, M bands.
#pragma once

#include <source_location>
#include <span>
#include <vector>

#include "graph/value.h"

namespace hum::kernels {

struct MelScale {
  std::vector<float> window;  // [n]
  int64_t hop = 0;
  int64_t bands = 0;
  // [F, M], row-major; a bin counts in at most two neighbouring bands, as with triangles.
  std::vector<float> weights;
  // Magnitudes are sqrt(|X|^2 + epsilon^2).
  double epsilon = 1e-7;
};

struct MelSpectrum {
  graph::Value bands_BTM;
  graph::Value magnitude_BTF;  // only if requested
};

// Frames lie wholly inside the signal. Shapes: x f32[B,N] -> [B,T,M] and [B,T,F].
// Throws: other shapes or types, a bin in other bands.
MelSpectrum mel_spectrum(const graph::Value& x_BN, const MelScale& scale, bool with_magnitude,
                         std::source_location where = std::source_location::current());

// The custom calls, for kernels/table.cpp. A bin counts weights[bin, 0] in band first[bin] and
// weights[bin, 1] in the next one. Settings: hop, epsilon.
struct Kernel;
// (x[B,N], window[n], first i32[F], weights f32[F,2]) -> (bands[B,T,M]), and magnitude[B,T,F] when
// there are two results
extern const Kernel kMelSpectrumKernel;
// (x, window, first, weights, dbands), and dmagnitude when there are six -> dx
extern const Kernel kMelSpectrumGradKernel;

}  // namespace hum::kernels

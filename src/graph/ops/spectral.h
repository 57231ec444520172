// Fourier transforms, frames and overlap-add: everything between a waveform and its spectra.
// Complex numbers exist only inside rfft and irfft; elsewhere they are two f32 values.
#pragma once

#include <source_location>
#include <span>
#include <vector>

#include "graph/value.h"

namespace hum::graph {

struct Spectrum {
  Value real, imag;
};

// Discrete Fourier transform of real numbers over the last dim: bin k is sum x[t] exp(-2 pi i k t /
// n), for k = 0..n/2.
// Shapes: f32 [..., n] -> two of [..., n/2 + 1].
Spectrum rfft(const Value& x, std::source_location where = std::source_location::current());
// The inverse: n real numbers whose rfft has these bins. n must be given because n/2 + 1 bins match
// two values of n. The imaginary part of bin 0 (and of bin n/2 for even n) is ignored.
Value irfft(const Value& real, const Value& imag, int64_t n,
            std::source_location where = std::source_location::current());

// Frames of `length` samples, one every `hop` samples, all fully inside x.
// Shapes: x_BN -> [B, (N - length) / hop + 1, length].
Value frame(const Value& x_BN, int64_t length, int64_t hop,
            std::source_location where = std::source_location::current());
// Sums frames placed `hop` samples apart: the adjoint of frame().
// Shapes: x_BTL -> [B, (T - 1) hop + L].
Value overlap_add(const Value& x_BTL, int64_t hop,
                  std::source_location where = std::source_location::current());

// The periodic raised cosine over n samples: 0 at sample 0, 1 at n/2.
std::vector<float> hann_window(int64_t n);

// Spectra of windowed frames that lie fully inside x: pad x first to centre the frames.
// Shapes: x_BN -> two of [B, (N - n) / hop + 1, n/2 + 1], n the window's length.
Spectrum stft(const Value& x_BN, std::span<const float> window, int64_t hop,
              std::source_location where = std::source_location::current());
// The signal whose stft is nearest to the given spectra: windowed inverse transforms, overlap-added
// and divided by the summed squares of the window. Samples where every window is (almost) zero are
// zero.
// Shapes: two of [B, T, n/2 + 1] -> [B, (T - 1) hop + n].
Value istft(const Spectrum& spectrum, std::span<const float> window, int64_t hop,
            std::source_location where = std::source_location::current());

}  // namespace hum::graph

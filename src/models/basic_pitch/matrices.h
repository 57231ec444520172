// Rearranges weights once for fast matrix products: convolutions over frequency become banded
// matrices whose rows are the bins they read. The sums are the same; only their order changes.
#pragma once

#include <cstdint>
#include <vector>

#include "models/basic_pitch/weights.h"

namespace hum::models::basic_pitch {

// A row-major matrix that reads the inputs [first, first + inputs) of each frame.
struct Band {
  int64_t first = 0;
  int64_t inputs = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<float> values;
};

// The number of half-rate samples per product of the octave chain.
inline constexpr int64_t kDownsampleBlock = 128;

// The half-band filter as a product: 510 samples -> 128 samples at half the rate.
// Shapes: [510, 128]; column n holds the filter shifted down by 2 n.
std::vector<float> downsample_matrix(const Weights& weights);

// Real and imaginary constant-Q kernels side by side. Shapes: [256, 72].
std::vector<float> cqt_matrix(const Weights& weights);

// The harmonic stack and the 3 x 39 convolution after it as one product: eight shifted copies of
// the spectrum, each convolved over 39 bins, overlap so much that one dense matrix from the bins
// needs less work. Three parts of 88 output bins. Shapes: rows (3 frames, bins), columns (88 bins,
// 8 channels); first and inputs count bins of the spectrum.
std::vector<Band> contour_hidden_bands(const Weights& weights);

// The 5 x 5 convolution to one contour channel, in parts of 44 output bins. Each frame's
// contribution to its five neighbours is a column group, to be added with five shifts in time.
// Shapes: rows (bins, 8 channels), columns (5 frames, 44 bins); first and inputs count values of a
// frame of [264, 8].
std::vector<Band> contour_bands(const Weights& weights);

}  // namespace hum::models::basic_pitch

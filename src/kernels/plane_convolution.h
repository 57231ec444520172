// Convolutions over rows and columns and their transposes, as products of shifted rows in one pass,
// without building the matrix of windows: what conv1d/ and conv2d/ run on a CPU.
#pragma once

#include <cstdint>

#include "graph/value.h"
#include "kernels/panel_product.h"
#include "kernels/parallel.h"

namespace hum::kernels {

// One of the two dims. Result y sums x[y stride + k dilation - padding_low] kernel[k]; if
// transposed, result x stride + k dilation - padding_low gets x[x] kernel[k].
struct ConvolutionAxis {
  int64_t taps = 1, in = 1, out = 1;
  int64_t stride = 1, dilation = 1, padding_low = 0;
  bool transposed = false;
};

struct PlaneConvolution {
  Word word = Word::kF32;
  int64_t batch = 1, inputs = 1, outputs = 1;
  ConvolutionAxis rows, columns;
};

// Shapes: x[batch, rows.in, columns.in, inputs], kernel[rows.taps, columns.taps, inputs, outputs]
// -> y[batch, rows.out, columns.out, outputs], all f32 or all bf16.
void convolve(const PlaneConvolution& convolution, const void* x, const void* kernel, void* y,
              Workers& workers);

// Whether convolve() supports a call (x, kernel) -> y on this processor, and it is large enough.
// Features are the last dims, columns those before. `step`: the columns' stride, if transposed.
bool can_convolve(const graph::Node& call, int64_t step = 1);

}  // namespace hum::kernels

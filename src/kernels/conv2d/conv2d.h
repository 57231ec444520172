// Convolutions over rows and columns and their transposes, as products of shifted rows in one pass
// (plane_convolution.h). The gradient for the input is the same kernel in the opposite direction;
// that for the kernel is left to plain ops.
//
// B batch, H rows, W columns, I / O input / output channels; kernels are [rows, columns, I, O].
#pragma once

#include <source_location>

#include "graph/ops/convolution.h"
#include "graph/value.h"

namespace hum::kernels {

// graph::conv2d with f32 sums, in x's type. Groups are left to plain ops.
// Shapes, throws: those of graph::conv2d.
graph::Value conv2d(const graph::Value& x_BHWI, const graph::Value& kernel_HWIO,
                    const graph::Conv2dOptions& options = {},
                    std::source_location where = std::source_location::current());

// graph::conv_transpose2d, likewise.
graph::Value conv_transpose2d(const graph::Value& x_BHWI, const graph::Value& kernel_HWIO,
                              const graph::Conv2dOptions& options = {},
                              std::source_location where = std::source_location::current());

// The custom calls, for kernels/table.cpp. Settings, each of two numbers: strides, dilation,
// padding_low.
struct Kernel;
// (x[B,H,W,I], kernel[K,L,I,O]) -> y[B,H',W',O]
extern const Kernel kConv2dKernel, kConvTranspose2dKernel;

}  // namespace hum::kernels

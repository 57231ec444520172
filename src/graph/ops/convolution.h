// Convolutions (the kernel is not flipped, as usual in deep learning), transposed convolutions, and
// the depthwise form. Layouts are written as in StableHLO: one letter per dim, b batch, f feature,
// i / o the kernel's input / output feature, digits the spatial dims.
//
// XLA's CPU compiler has a fast path for channels last ("b0f" x "0io" -> "b0f"); every other layout
// adds transposes there. bf16 is multiplied exactly and summed in f32.
#pragma once

#include <source_location>
#include <string>

#include "graph/value.h"

namespace hum::graph {

struct ConvolutionLayout {
  std::string input = "b0f";
  std::string kernel = "0io";
  std::string result = "b0f";
};

// One number per spatial dim. Defaults: strides and dilations 1, padding 0.
struct ConvolutionOptions {
  Dims strides = {};
  // Zeros added before and after the (dilated) input; negative numbers crop it.
  Dims padding_low = {};
  Dims padding_high = {};
  // input_dilation n inserts n - 1 zeros between neighbours (a transposed convolution).
  Dims input_dilation = {};
  Dims kernel_dilation = {};
  // Splits the features into this many independent groups.
  int64_t feature_groups = 1;
  // Same for the batch: group g of the batch produces only group g of the output features. Used by
  // the gradient of a grouped convolution.
  int64_t batch_groups = 1;
  ConvolutionLayout layout = {};
};

// The general form. Shapes: the kernel's i is f / feature_groups; the result's spatial size is
// (padded - dilated kernel) / stride + 1.
// Throws on mismatched sizes, naming the dims.
Value convolution(const Value& x, const Value& kernel, ConvolutionOptions options,
                  std::source_location where = std::source_location::current());

struct Conv1dOptions {
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t groups = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
};

// Shapes: x_BTI, kernel_KIO (I / groups) -> [B, (T + padding - (K - 1) dilation - 1) / stride + 1,
// O].
Value conv1d(const Value& x_BTI, const Value& kernel_KIO, Conv1dOptions options = {},
             std::source_location where = std::source_location::current());

// result[t stride + k dilation - padding_low] += x[t] kernel[k]: the gradient of conv1d with
// respect to its input, as a layer. padding_low and padding_high crop that many elements from the
// ends.
// Shapes: x_BTI, kernel_KIO (O / groups; PyTorch's ConvTranspose1d weight is [I, O, K]) ->
// [B, (T - 1) stride + (K - 1) dilation + 1 - padding, O].
Value conv_transpose1d(const Value& x_BTI, const Value& kernel_KIO, Conv1dOptions options = {},
                       std::source_location where = std::source_location::current());

struct Conv2dOptions {
  Dims strides = {1, 1};
  Dims dilation = {1, 1};
  int64_t groups = 1;
  Dims padding_low = {0, 0};
  Dims padding_high = {0, 0};
};

// Shapes: x_BHWI, kernel_HWIO (I / groups) -> [B, H', W', O].
Value conv2d(const Value& x_BHWI, const Value& kernel_HWIO, Conv2dOptions options = {},
             std::source_location where = std::source_location::current());

// result[y stride + h dilation - padding_low] += x[y] kernel[h] in both spatial dims: the gradient
// of conv2d with respect to its input, as a layer. padding_low and padding_high crop that many
// elements from the ends. Shapes: x_BHWI, kernel_HWIO (O / groups; PyTorch's ConvTranspose2d weight
// is [I, O, H, W]) -> [B, H', W', O], H' = (H - 1) stride + (taps - 1) dilation + 1 - padding.
Value conv_transpose2d(const Value& x_BHWI, const Value& kernel_HWIO, Conv2dOptions options = {},
                       std::source_location where = std::source_location::current());

struct DepthwiseOptions {
  int64_t dilation = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
};

// Convolves every channel with its own kernel, as K shifted multiply-adds.
// Shapes: x_BTC, kernel_KC -> [B, T + padding - (K - 1) dilation, C].
Value depthwise_conv1d(const Value& x_BTC, const Value& kernel_KC, DepthwiseOptions options = {},
                       std::source_location where = std::source_location::current());

}  // namespace hum::graph

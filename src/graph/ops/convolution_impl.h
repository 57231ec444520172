// Shared by the convolution files: reads a convolution's sizes and letters from its node.
#pragma once

#include <string>

#include "graph/ops/convolution.h"

namespace hum::graph {

// Options with every list filled in, and spatial sizes in the order of the digits.
struct ConvolutionNumbers {
  ConvolutionOptions options;
  int spatial = 0;
  Dims input, kernel, result;

  int64_t dilated_input(size_t d) const;
  int64_t dilated_kernel(size_t d) const;
};

// Position of a letter in a layout.
int place_of(const std::string& layout, char letter);
// Size of the dim with that letter.
int64_t size_of(const Value& x, const std::string& layout, char letter);

ConvolutionOptions convolution_options(const Node& node);
// result is empty while the node has no shapes.
ConvolutionNumbers convolution_numbers(const Node& node);

Values convolution_vjp(const Node& node, std::span<const Value> cotangents);

}  // namespace hum::graph

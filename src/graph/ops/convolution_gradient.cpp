// The gradient of a convolution is two convolutions: the cotangent with the flipped kernel (for the
// input), and the input with the cotangent (for the kernel). Strides of one become dilations of the
// other; feature groups become batch groups in the second.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/ops/convolution_impl.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/shape_ops.h"

namespace hum::graph {
namespace {

// Moves `groups` blocks of dim `from` in front of dim `to`: [g * a, .., b] -> [a, .., g * b].
Value move_groups(const Value& x, int from, int to, int64_t groups) {
  const int64_t rest = x.size(from) / groups;
  Dims split = x.dims();
  split[static_cast<size_t>(from)] = rest;
  split.insert(split.begin() + from, groups);
  // After the split, dim d of x is dim d + 1 for d >= from; groups is dim `from`.
  Dims order;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d == to) order.push_back(from);
    order.push_back(d < from ? d : d + 1);
  }
  Dims joined = x.dims();
  joined[static_cast<size_t>(from)] = rest;
  joined[static_cast<size_t>(to)] *= groups;
  return reshape(transpose(reshape(x, std::move(split)), std::move(order)), std::move(joined));
}

// Exchanges two letters of the layout: the operand is read in another role.
std::string renamed(std::string layout, char a, char as_a, char b, char as_b) {
  for (char& letter : layout) letter = letter == a ? as_a : letter == b ? as_b : letter;
  return layout;
}

Value gradient_to_input(const Value& kernel, const Value& cotangent, const ConvolutionNumbers& n) {
  const ConvolutionOptions& o = n.options;
  const int64_t groups = o.feature_groups * o.batch_groups;
  Value flipped = kernel;
  if (groups > 1) {
    flipped =
        move_groups(kernel, place_of(o.layout.kernel, 'o'), place_of(o.layout.kernel, 'i'), groups);
  }
  Dims spatial_dims, low, high;
  for (size_t d = 0; d < static_cast<size_t>(n.spatial); ++d) {
    spatial_dims.push_back(place_of(o.layout.kernel, static_cast<char>('0' + d)));
    const int64_t before = n.dilated_kernel(d) - 1 - o.padding_low[d];
    const int64_t spread = (n.result[d] - 1) * o.strides[d] + 1;
    low.push_back(before);
    high.push_back(n.dilated_input(d) + n.dilated_kernel(d) - 1 - spread - before);
  }
  const bool pointwise = std::ranges::all_of(n.kernel, [](int64_t size) { return size == 1; });
  if (!pointwise) flipped = reverse(flipped, spatial_dims);
  const Value result = convolution(
      cotangent, flipped,
      {.strides = o.input_dilation,
       .padding_low = low,
       .padding_high = high,
       .input_dilation = o.strides,
       .kernel_dilation = o.kernel_dilation,
       .feature_groups = groups,
       .layout = {o.layout.result, renamed(o.layout.kernel, 'i', 'o', 'o', 'i'), o.layout.input}});
  if (o.batch_groups == 1) return result;
  return move_groups(result, place_of(o.layout.input, 'f'), place_of(o.layout.input, 'b'),
                     o.batch_groups);
}

Value gradient_to_kernel(const Value& x, const Value& cotangent, const ConvolutionNumbers& n) {
  const ConvolutionOptions& o = n.options;
  Dims high;
  for (size_t d = 0; d < static_cast<size_t>(n.spatial); ++d) {
    const int64_t spread = (n.result[d] - 1) * o.strides[d] + 1;
    high.push_back(spread - n.dilated_input(d) + n.dilated_kernel(d) - 1 - o.padding_low[d]);
  }
  // The sum is over the batch: batch and features exchange roles.
  return convolution(x, cotangent,
                     {.strides = o.kernel_dilation,
                      .padding_low = o.padding_low,
                      .padding_high = high,
                      .input_dilation = o.input_dilation,
                      .kernel_dilation = o.strides,
                      .feature_groups = o.batch_groups,
                      .batch_groups = o.feature_groups,
                      .layout = {renamed(o.layout.input, 'b', 'f', 'f', 'b'),
                                 renamed(o.layout.result, 'b', 'i', 'f', 'o'),
                                 renamed(o.layout.kernel, 'i', 'b', 'o', 'f')}});
}

}  // namespace

Values convolution_vjp(const Node& node, std::span<const Value> cotangents) {
  const ConvolutionNumbers n = convolution_numbers(node);
  return {gradient_to_input(node.input(1), cotangents[0], n),
          gradient_to_kernel(node.input(0), cotangents[0], n)};
}

}  // namespace hum::graph

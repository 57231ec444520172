#include "kernels/rotary/rotary.h"

#include "base/error.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

constexpr int kMembersDim = 3, kHeadDim = 4;

// Rotates all heads of x. Shapes: x_BTGMd.
Value turned(const Value& x, const Value& waves) {
  const int64_t length = waves.size(0), half = waves.size(2), head = x.size(kHeadDim);
  const auto wave = [&](int64_t index) {
    return graph::reshape(graph::slice_in_dim(waves, 1, index, index + 1), {length, 1, 1, half});
  };
  const auto part = [&](int64_t from) {
    return graph::convert(graph::slice_in_dim(x, kHeadDim, from, from + half), DType::kF32);
  };
  const Value c = wave(0), s = wave(1), a = part(0), b = part(half);
  Values parts = {graph::convert(a * c - b * s, x.dtype()),
                  graph::convert(b * c + a * s, x.dtype())};
  if (2 * half < head) parts.push_back(graph::slice_in_dim(x, kHeadDim, 2 * half, head));
  return graph::concatenate(parts, kHeadDim);
}

Value plain(const Value& x, const Value& waves, int64_t members) {
  const int64_t all = x.size(kMembersDim);
  if (members == all) return turned(x, waves);
  return graph::concatenate(Values{turned(graph::slice_in_dim(x, kMembersDim, 0, members), waves),
                                   graph::slice_in_dim(x, kMembersDim, members, all)},
                            kMembersDim);
}

void require_shapes(const Value& x, const Value& waves, int64_t members,
                    std::source_location where) {
  const bool fits = x.rank() == 5 && graph::is_float(x.dtype()) && waves.rank() == 3 &&
                    waves.dtype() == DType::kF32 && waves.size(0) == x.size(1) &&
                    waves.size(1) == 2 && 2 * waves.size(2) <= x.size(kHeadDim) && members > 0 &&
                    members <= x.size(kMembersDim);
  if (fits) return;
  fail(ExitCode::kFailure,
       fmt::format("rotate_heads: x {}, waves {} and {} members do not fit: want x[B,T,G,M,d], "
                   "waves f32[T,2,h], 2 h <= d, 0 < members <= M",
                   x.shape(), waves.shape(), members),
       "", where);
}

}  // namespace

Value rotate_heads(const Value& x, const Value& waves, int64_t members,
                   std::source_location where) {
  require_shapes(x, waves, members, where);
  // The gradient of a rotation is the inverse rotation.
  const auto vjp = [members, where](std::span<const Value> inputs, std::span<const Value>,
                                    std::span<const Value> cotangents) {
    const Value back = graph::constant(std::vector<float>{1, -1}, {2, 1});
    return Values{rotate_heads(cotangents[0], inputs[1] * back, members, where), Value()};
  };
  return graph::custom_call(
      kRotateHeadsKernel.call.name, Values{x, waves}, {{"members", members}},
      [members](std::span<const Value> in) { return Values{plain(in[0], in[1], members)}; },
      {.vjp = vjp}, where)[0];
}

}  // namespace hum::kernels

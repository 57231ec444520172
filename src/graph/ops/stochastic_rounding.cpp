#include "graph/ops/stochastic_rounding.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"

namespace hum::graph {
namespace {

constexpr DType kU32 = DType::kU32;
constexpr int64_t kBlocks = 16, kHalves = 8;  // per group
static_assert(kBlocks * kHalves == kRoundingGroup);

// The high and the low word of x * factor; graphs have no 64-bit integers.
std::pair<Value, Value> product(const Value& x, uint32_t factor) {
  const uint32_t low = factor & 0xffff, high = factor >> 16;
  const Value x_low = x & 0xffff, x_high = shift_right_logical(x, 16);
  const Value low_high = x_low * high, high_low = x_high * low;
  const Value middle =
      shift_right_logical(x_low * low, 16) + (low_high & 0xffff) + (high_low & 0xffff);
  const Value top = x_high * high + shift_right_logical(low_high, 16) +
                    shift_right_logical(high_low, 16) + shift_right_logical(middle, 16);
  return {top, x * factor};
}

// 16 random bits for each of `parts` x `count` elements.
Value draws(const Value& key, std::span<const uint32_t> streams, int64_t count) {
  const auto parts = static_cast<int64_t>(streams.size());
  const int64_t groups = (count + kRoundingGroup - 1) / kRoundingGroup;
  HUM_REQUIRE(groups * kBlocks < (int64_t{1} << 32), "round_stochastically: {} elements a stream",
              count);
  const std::vector<double> numbers(streams.begin(), streams.end());
  const Dims dims = {parts, groups, kBlocks};
  const Value block = reshape(iota({kU32, {parts, groups * kBlocks}}, 1), dims);
  const Value stream = broadcast_to(constant(numbers, {kU32, {parts, 1, 1}}), dims);
  const Value zero = zeros_like(block);
  Values halves;
  for (const Value& word : philox4x32({block, zero, stream, zero}, key)) {
    halves.push_back(word & 0xffff);
    halves.push_back(shift_right_logical(word, 16));
  }
  const Value all = reshape(stack(halves, 2), {parts, groups * kRoundingGroup});
  return slice_in_dim(all, 1, 0, count);
}

}  // namespace

std::array<Value, 4> philox4x32(std::array<Value, 4> counter, const Value& key) {
  HUM_REQUIRE(key.shape() == (Shape{kU32, {2}}), "philox4x32: a key is ui32[2], not {}",
              key.shape());
  auto [c0, c1, c2, c3] = std::move(counter);
  Value k0 = reshape(slice_in_dim(key, 0, 0, 1), {});
  Value k1 = reshape(slice_in_dim(key, 0, 1, 2), {});
  for (int round = 0; round < 10; ++round) {
    const auto [high0, low0] = product(c0, 0xD2511F53);
    const auto [high1, low1] = product(c2, 0xCD9E8D57);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = k0 + 0x9E3779B9;
    k1 = k1 + 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

Value round_stochastically(const Value& x, const Value& key, std::span<const uint32_t> streams) {
  HUM_REQUIRE(x.dtype() == DType::kF32, "round_stochastically: rounds f32, not {}", x.shape());
  const auto parts = static_cast<int64_t>(streams.size());
  const int64_t elements = x.shape().elements();
  HUM_REQUIRE(parts > 0 && elements % parts == 0, "round_stochastically: {} is not {} equal parts",
              x.shape(), parts);
  if (elements == 0) return convert(x, DType::kBF16);
  const Value random = reshape(draws(key, streams, elements / parts), x.dims());
  // The low sixteen bits are dropped; the draw carries into the upper ones with a probability
  // proportional to the dropped value.
  const Value sum = (bitcast_convert(x, kU32) + random) & 0xffff0000;
  const Value rounded = select(equal(x, x), bitcast_convert(sum, DType::kF32), x);
  return convert(rounded, DType::kBF16);
}

}  // namespace hum::graph

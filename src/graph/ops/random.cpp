#include "graph/ops/random.h"

#include <numbers>
#include <utility>

#include "base/error.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/reduction.h"
#include "graph/ops/shape_ops.h"

namespace hum::graph {
namespace {

constexpr DType kU32 = DType::kU32;

using Words = std::pair<Value, Value>;

// In the form that broadcasts with the counters: scalars, or [B,1] for B keys.
Words key_words(const Value& key) {
  HUM_REQUIRE(key.dtype() == kU32 && (key.rank() == 1 || key.rank() == 2) && key.dims().back() == 2,
              "random: a key is ui32[2] or ui32[B,2], not {}", key.shape());
  const int last = key.rank() - 1;
  const auto word = [&](int64_t i) {
    const Value column = slice_in_dim(key, last, i, i + 1);
    return last == 0 ? reshape(column, {}) : column;
  };
  return {word(0), word(1)};
}

// Number of elements generated per key.
int64_t elements_of_key(const Dims& dims, const Value& key) {
  const Shape shape{kU32, dims};
  if (key.rank() < 2) return shape.elements();
  HUM_REQUIRE(!dims.empty() && dims[0] == key.size(0), "random: {} keys for the rows of {}",
              key.size(0), shape);
  return shape.elements() / dims[0];
}

Value rotate_left(const Value& x, int bits) {
  return shift_left(x, bits) | shift_right_logical(x, 32 - bits);
}

// base/rng.cpp's threefry2x32, element-wise. Source: Salmon et al. 2011.
Words threefry(const Value& key, const Value& low, const Value& high) {
  constexpr uint32_t kParity = 0x1BD11BDA;
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const auto [k0, k1] = key_words(key);
  const Value keys[3] = {k0, k1, k0 ^ k1 ^ kParity};
  Value x0 = low + keys[0], x1 = high + keys[1];
  for (int group = 0; group < 5; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      x0 = x0 + x1;
      x1 = rotate_left(x1, rotation) ^ x0;
    }
    x0 = x0 + keys[(group + 1) % 3];
    x1 = x1 + (keys[(group + 2) % 3] + (group + 1));
  }
  return {x0, x1};
}

// Two words for each of `count` blocks 0, 1, 2, ... Shapes: [count], or [B,count] for B keys.
Words blocks(int64_t count, const Value& key, std::source_location where) {
  HUM_REQUIRE(count < (int64_t{1} << 32), "random: {} elements from one key", count);
  const Value low = iota({kU32, {count}}, 0, where);
  return threefry(key, low, zeros_like(low));
}

// 24 bits as a float in [0, 1).
Value unit_interval(const Value& bits) {
  return convert(shift_right_logical(bits, 8), DType::kF32) * 0x1p-24;
}

void require_float(const char* op, const Shape& shape) {
  HUM_REQUIRE(is_float(shape.dtype), "{}: makes f32 or bf16, not {}", op, shape);
}

}  // namespace

Value key_constant(std::array<uint32_t, 2> key, std::source_location where) {
  const double words[2] = {static_cast<double>(key[0]), static_cast<double>(key[1])};
  return constant(std::span<const double>(words), {kU32, {2}}, where);
}

Value fold_in(const Value& key, Operand number) {
  const Value given = number.value();
  HUM_REQUIRE(!given || (given.rank() == 0 && !is_float(given.dtype())),
              "fold_in: the number is an integer scalar, not {}", given.shape());
  const Value low =
      given ? convert(given, kU32) : constant(number.number(), {kU32, {}}, number.where());
  const auto [x0, x1] = threefry(key, low, zeros_like(low));
  if (key.rank() == 2) return concatenate({x0, x1}, 1);
  return concatenate({reshape(x0, {1}), reshape(x1, {1})}, 0);
}

Value random_bits(const Dims& dims, const Value& key, std::source_location where) {
  const ErrorContext context = building("random_bits", {key}, where);
  const int64_t count = elements_of_key(dims, key);
  const auto [even, odd] = blocks((count + 1) / 2, key, where);
  const int last = even.rank() - 1;
  Dims joined = even.dims();
  joined.back() *= 2;
  const Value words = reshape(stack({even, odd}, last + 1, where), joined);
  return reshape(slice_in_dim(words, last, 0, count), dims);
}

Value uniform(const Shape& shape, const Value& key, std::source_location where) {
  const ErrorContext context = building("uniform", {key}, where);
  require_float("uniform", shape);
  return convert(unit_interval(random_bits(shape.dims, key, where)), shape.dtype);
}

// Box-Muller on the two words of each block.
Value normal(const Shape& shape, const Value& key, std::source_location where) {
  const ErrorContext context = building("normal", {key}, where);
  require_float("normal", shape);
  const auto [first, second] = blocks(elements_of_key(shape.dims, key), key, where);
  const Value radius = sqrt(log(1 - unit_interval(first)) * -2.0);
  const Value flat = radius * cosine(unit_interval(second) * (2 * std::numbers::pi));
  return convert(reshape(flat, shape.dims), shape.dtype);
}

Value bernoulli(const Dims& dims, const Value& key, Operand probability,
                std::source_location where) {
  return uniform({DType::kF32, dims}, key, where) < probability;
}

Value gumbel(const Shape& shape, const Value& key, std::source_location where) {
  const ErrorContext context = building("gumbel", {key}, where);
  require_float("gumbel", shape);
  // Zero would give -inf; one never occurs.
  const Value u = maximum(uniform({DType::kF32, shape.dims}, key, where), 0x1p-25);
  return convert(-log(-log(u)), shape.dtype);
}

Value categorical(const Value& logits, const Value& key, std::source_location where) {
  const Value noise = gumbel({DType::kF32, logits.dims()}, key, where);
  return argmax(convert(logits, DType::kF32) + noise, -1, /*keepdims=*/false, where);
}

}  // namespace hum::graph

// Random numbers as pure functions of a key: Threefry-2x32-20 in element-wise u32 ops. They produce
// the same bits on every platform and on the host (base/rng.h: a row-major fill from Rng(key)). No
// gradients. A key is a u32[2] value and generates one tensor; use fold_in for more keys. B keys,
// u32[B,2], generate a tensor of B rows (dim 0): row b is what key b generates alone.
#pragma once

#include <array>
#include <cstdint>
#include <source_location>

#include "graph/ops/elementwise.h"
#include "graph/value.h"

namespace hum::graph {

// A key that is known when the graph is built (for tests; step keys are program inputs).
Value key_constant(std::array<uint32_t, 2> key,
                   std::source_location where = std::source_location::current());

// A key derived from `key` and `number` (an integer scalar or a plain number below 2^32), different
// from the keys of all other numbers. Host: threefry2x32(key, {number, 0}). B keys stay B.
Value fold_in(const Value& key, Operand number);

// Element i is the i-th Rng(key).bits(). Shapes: u32 dims; fewer than 2^32 elements.
Value random_bits(const Dims& dims, const Value& key,
                  std::source_location where = std::source_location::current());
// Uniform in [0, 1), 24 bits; element i is the i-th Rng(key).uniform(). shape: f32 or bf16
// (rounded, so 1 may occur).
Value uniform(const Shape& shape, const Value& key,
              std::source_location where = std::source_location::current());
// Standard normal; element i is the i-th Rng(key).normal() up to rounding.
Value normal(const Shape& shape, const Value& key,
             std::source_location where = std::source_location::current());
// i1, true with the given probability (a number, or an f32 value that broadcasts to dims).
Value bernoulli(const Dims& dims, const Value& key, Operand probability,
                std::source_location where = std::source_location::current());
// Standard Gumbel, always finite: argmax(logits + gumbel) samples from softmax(logits).
Value gumbel(const Shape& shape, const Value& key,
             std::source_location where = std::source_location::current());
// One index (i32) of the last dim, sampled from softmax(logits).
Value categorical(const Value& logits, const Value& key,
                  std::source_location where = std::source_location::current());

}  // namespace hum::graph

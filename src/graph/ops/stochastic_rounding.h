// Rounds f32 to one of the two neighbouring bf16 values at random, with unbiased mean, so that
// updates far below half a unit in the last place still add up. The draws are Philox4x32-10 in
// element-wise u32 ops. They depend only on key, stream and element index, not on the number of
// threads or the vector width.
// Source: Gupta et al. 2015, "Deep learning with limited numerical precision"; Salmon et al. 2011,
// "Parallel random numbers: as easy as 1, 2, 3" (Philox).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "graph/value.h"

namespace hum::graph {

// Elements whose draws come from sixteen Philox blocks: element 16 h + l of a group takes half h
// (the low half of word 0, its high half, the low half of word 1, ...) of the group's block l, so
// that sixteen neighbours are drawn in sixteen lanes.
constexpr int64_t kRoundingGroup = 128;

// The four words of Philox4x32 with ten rounds for each counter (u32, dims that broadcast). key:
// u32[2].
std::array<Value, 4> philox4x32(std::array<Value, 4> counter, const Value& key);

// Shapes: x f32[..], key u32[2] -> bf16[..]. The row-major elements form `streams.size()` equal
// parts, each with its own stream: counter = (block, 0, stream, 0). NaN and infinity are preserved.
// Throws on other types, and on parts that are unequal or have 2^32 blocks.
Value round_stochastically(const Value& x, const Value& key, std::span<const uint32_t> streams);

}  // namespace hum::graph

// Rotates the heads at one position: for the rotary kernel and for kernels that rotate on the way.
#pragma once

#include <cstdint>

namespace hum::kernels {

struct TurnedHeads {
  // The first `turned` of each group's `members` heads are rotated, the others copied.
  int64_t groups, members, turned;
  int64_t head, half;  // size of a head; rotated pairs
};

// x, y: [groups, members, head], f32 or bf16 as its bits, not the same memory; waves: cosines, then
// sines, `half` each.
void turn(const float* x, const float* waves, float* y, const TurnedHeads& heads);
void turn(const uint16_t* x, const float* waves, uint16_t* y, const TurnedHeads& heads);

}  // namespace hum::kernels

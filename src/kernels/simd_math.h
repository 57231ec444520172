// Element-wise math on simd.h's vectors.
#pragma once

#include <cstring>

#include "kernels/simd.h"

namespace hum::kernels::simd {

// GCC compiles the loop to one instruction per register.
template <typename Vector>
HUM_INLINE Vector square_root(Vector x) {
  float lanes[sizeof(Vector) / sizeof(float)];
  std::memcpy(lanes, &x, sizeof lanes);
  for (float& lane : lanes) lane = __builtin_sqrtf(lane);
  std::memcpy(&x, lanes, sizeof lanes);
  return x;
}
HUM_INLINE Pair square_root(const Pair& x) { return {square_root(x.low), square_root(x.high)}; }

// a * b + c, rounded once where the instruction set has FMA, under sanitizers too: GCC contracts
// registers by itself, but not pairs whose halves a sanitizer keeps in memory.
HUM_INLINE Register multiply_add(Register a, float b, Register c) { return a * b + c; }
HUM_INLINE PairHalf multiply_add(PairHalf a, float b, PairHalf c) {
  constexpr int kCount = sizeof(PairHalf) / sizeof(float);
  float lanes[kCount], sums[kCount];
  std::memcpy(lanes, &a, sizeof a);
  std::memcpy(sums, &c, sizeof c);
  for (int i = 0; i < kCount; ++i) sums[i] = __builtin_fmaf(lanes[i], b, sums[i]);
  std::memcpy(&c, sums, sizeof c);
  return c;
}
HUM_INLINE Pair multiply_add(const Pair& a, float b, const Pair& c) {
  return {multiply_add(a.low, b, c.low), multiply_add(a.high, b, c.high)};
}

// e^x to within 2 units in the last place where the result is normal; x is clamped to [-87, 88]
// (about 1e-38 to 1.7e38).
template <typename Floats>
HUM_INLINE Floats exponential(Floats x) {
  x = select(x < -87.0F, broadcast<Floats>(-87.0F), x);
  x = select(x > 88.0F, broadcast<Floats>(88.0F), x);
  // x = n log 2 + r with |r| <= log(2) / 2; log 2 is split in two; the first part has few bits.
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const Floats shifted = x * 1.44269504F + kRound;
  const Floats n = shifted - kRound;
  const Floats r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  // Minimax polynomial of Cephes' expf.
  Floats p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  // Times 2^n: n is in the low bits of `shifted`.
  return p * floats((bits(shifted) << 23) + 0x3f800000);
}

}  // namespace hum::kernels::simd

// Sixteen floats at a time, in GCC's vector types, and one function body compiled for several
// instruction sets. Everything here is always inlined: code compiled for one instruction set must
// never be shared with another.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cpu_features.h"

#define HUM_INLINE inline __attribute__((always_inline))

// Defines `void name parameters`, which runs `name_body arguments` compiled for the instruction set
// that this machine's kernels use:
//   HUM_INLINE void scale_body(float* x, int64_t n) { ... }
//   HUM_SIMD_FUNCTION(scale, (float* x, int64_t n), (x, n))
#define HUM_SIMD_FUNCTION(name, parameters, arguments)                                            \
  __attribute__((                                                                                 \
      target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c,"                                  \
             "prefer-vector-width=512"))) void name##_avx512 parameters {                         \
    name##_body arguments;                                                                        \
  }                                                                                               \
  __attribute__((target("avx2,fma,f16c"))) void name##_avx2 parameters { name##_body arguments; } \
  void name##_baseline parameters { name##_body arguments; }                                      \
  void name parameters {                                                                          \
    static const Isa kIsa = chosen_isa();                                                         \
    if (kIsa >= Isa::kAvx512) return name##_avx512 arguments;                                     \
    if (kIsa >= Isa::kAvx2) return name##_avx2 arguments;                                         \
    return name##_baseline arguments;                                                             \
  }

namespace hum::kernels::simd {

constexpr int64_t kLanes = 16;
using Floats __attribute__((vector_size(kLanes * sizeof(float)))) = float;
using Words __attribute__((vector_size(kLanes * sizeof(uint32_t)))) = uint32_t;
using Ints __attribute__((vector_size(kLanes * sizeof(int32_t)))) = int32_t;
using Halves __attribute__((vector_size(kLanes * sizeof(uint16_t)))) = uint16_t;

HUM_INLINE Floats broadcast(float value) { return Floats{} + value; }

HUM_INLINE Floats load(const float* from) {
  Floats x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
// bf16, as its bits.
HUM_INLINE Floats load(const uint16_t* from) {
  Halves x;
  std::memcpy(&x, from, sizeof x);
  return reinterpret_cast<Floats>(__builtin_convertvector(x, Words) << 16);
}
HUM_INLINE void store(float* to, Floats x) { std::memcpy(to, &x, sizeof x); }
// Rounds to nearest even; NaN stays NaN.
HUM_INLINE void store(uint16_t* to, Floats x) {
  const Words bits = reinterpret_cast<Words>(x);
  const Words rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const Halves narrow = __builtin_convertvector(x == x ? rounded : (bits >> 16) | 0x40, Halves);
  std::memcpy(to, &narrow, sizeof narrow);
}

// The first `count` lanes; the others are zero.
template <typename T>
HUM_INLINE Floats load(const T* from, int64_t count) {
  if (count >= kLanes) return load(from);
  T lanes[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
  return load(lanes);
}
template <typename T>
HUM_INLINE void store(T* to, Floats x, int64_t count) {
  if (count >= kLanes) return store(to, x);
  T lanes[kLanes];
  store(lanes, x);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

HUM_INLINE Ints lane_numbers() {
  const Ints numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return numbers;
}

// x in lanes below count, 0 in the others.
HUM_INLINE Floats keep(Floats x, int64_t count) {
  return lane_numbers() < static_cast<int32_t>(count) ? x : Floats{};
}

HUM_INLINE float sum(Floats x) {
  using Eight __attribute__((vector_size(32))) = float;
  using Four __attribute__((vector_size(16))) = float;
  Eight halves[2];
  std::memcpy(halves, &x, sizeof x);
  const Eight eight = halves[0] + halves[1];
  Four quarters[2];
  std::memcpy(quarters, &eight, sizeof eight);
  const Four four = quarters[0] + quarters[1];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

// rows[i][j] <-> rows[j][i]: in each of four steps, blocks of D x D beside the diagonal change
// places.
#define HUM_LANES(F)                                                                             \
  F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), \
      F(15)
template <int D>
HUM_INLINE void exchange_blocks(Floats* rows) {
#define HUM_LOW(l) ((l)&D ? kLanes + (l)-D : (l))
#define HUM_HIGH(l) ((l)&D ? kLanes + (l) : (l) + D)
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if ((i & D) != 0) continue;
    const Floats a = rows[i], b = rows[i + D];
    rows[i] = __builtin_shufflevector(a, b, HUM_LANES(HUM_LOW));
    rows[i + D] = __builtin_shufflevector(a, b, HUM_LANES(HUM_HIGH));
  }
#undef HUM_LOW
#undef HUM_HIGH
}
#undef HUM_LANES

HUM_INLINE void transpose(Floats (&rows)[kLanes]) {
  exchange_blocks<8>(rows);
  exchange_blocks<4>(rows);
  exchange_blocks<2>(rows);
  exchange_blocks<1>(rows);
}

// GCC makes one instruction of it.
HUM_INLINE Floats square_root(Floats x) {
  float lanes[kLanes];
  std::memcpy(lanes, &x, sizeof lanes);
  for (float& lane : lanes) lane = __builtin_sqrtf(lane);
  std::memcpy(&x, lanes, sizeof lanes);
  return x;
}

// e^x within 2 units in the last place for results in the normal range; at and below x = -87 it is
// about 1e-38, at and above 88 about 1.7e38.
HUM_INLINE Floats exponential(Floats x) {
  x = x < -87.0F ? broadcast(-87.0F) : x;
  x = x > 88.0F ? broadcast(88.0F) : x;
  // x = n log 2 + r with |r| <= log(2) / 2; log 2 in two parts, the first exact in few bits.
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
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
  const Words scale = (reinterpret_cast<Words>(shifted) << 23) + 0x3f800000;
  return p * reinterpret_cast<Floats>(scale);
}

}  // namespace hum::kernels::simd

// Sixteen floats at a time, with each function body compiled for several instruction sets. A body
// is a template over its vector type, `Floats`, because GCC keeps vectors wider than a register in
// memory. Everything here is always inlined: code compiled for one instruction set must never be
// shared with another.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cpu_features.h"
#include "kernels/simd_two.h"

// Defines `void name parameters`. It runs `name_body arguments`, compiled for the instruction set
// that kernels use on this machine and with its vectors:
//   template <typename Floats>
//   HUM_INLINE void scale_body(float* x, int64_t n) { ... }
//   HUM_SIMD_FUNCTION(scale, (float* x, int64_t n), (x, n))
#define HUM_SIMD_FUNCTION(name, parameters, arguments)                       \
  __attribute__((                                                            \
      target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c,"             \
             "prefer-vector-width=512"))) void name##_avx512 parameters {    \
    name##_body<simd::Register> arguments;                                   \
  }                                                                          \
  __attribute__((target("avx2,fma,f16c"))) void name##_avx2 parameters {     \
    name##_body<simd::Pair> arguments;                                       \
  }                                                                          \
  void name##_baseline parameters { name##_body<simd::Register> arguments; } \
  void name parameters {                                                     \
    static const Isa kIsa = chosen_isa();                                    \
    if (kIsa >= Isa::kAvx512) return name##_avx512 arguments;                \
    if (kIsa >= Isa::kAvx2) return name##_avx2 arguments;                    \
    return name##_baseline arguments;                                        \
  }

namespace hum::kernels::simd {

constexpr int64_t kLanes = 16;

// One AVX-512 register, with GCC's vector operators.
using Register __attribute__((vector_size(64))) = float;
using RegisterWords __attribute__((vector_size(64))) = uint32_t;
using RegisterInts __attribute__((vector_size(64))) = int32_t;
using RegisterHalves __attribute__((vector_size(32))) = uint16_t;

// Two AVX2 registers, and the type of each half.
using PairHalf __attribute__((vector_size(32))) = float;
using PairHalfWords __attribute__((vector_size(32))) = uint32_t;
using PairHalfInts __attribute__((vector_size(32))) = int32_t;
using PairHalfHalves __attribute__((vector_size(16))) = uint16_t;
using Pair = Two<PairHalf>;

// Integer vectors with as many lanes as `Floats`.
template <typename Floats>
struct Kin;
template <>
struct Kin<Register> {
  using Words = RegisterWords;
  using Ints = RegisterInts;
};
template <>
struct Kin<Pair> {
  using Words = Two<PairHalfWords>;
  using Ints = Two<PairHalfInts>;
};
template <typename Floats>
using WordsOf = typename Kin<Floats>::Words;
template <typename Floats>
using IntsOf = typename Kin<Floats>::Ints;

// Bit casts to words and back.
HUM_INLINE RegisterWords bits(Register x) { return reinterpret_cast<RegisterWords>(x); }
HUM_INLINE Register floats(RegisterWords x) { return reinterpret_cast<Register>(x); }
HUM_INLINE WordsOf<Pair> bits(const Pair& x) {
  return {reinterpret_cast<PairHalfWords>(x.low), reinterpret_cast<PairHalfWords>(x.high)};
}
HUM_INLINE Pair floats(const WordsOf<Pair>& x) {
  return {reinterpret_cast<PairHalf>(x.low), reinterpret_cast<PairHalf>(x.high)};
}

// a in the lanes where `mask`, the result of a comparison, is set; b in the others.
template <typename Mask, typename Vector>
HUM_INLINE Vector select(Mask mask, Vector a, Vector b) {
  return mask ? a : b;
}
template <typename Mask, typename Half>
HUM_INLINE Two<Half> select(const Two<Mask>& mask, const Two<Half>& a, const Two<Half>& b) {
  return {mask.low ? a.low : b.low, mask.high ? a.high : b.high};
}

template <typename Floats>
HUM_INLINE Floats broadcast(float value) {
  return Floats{} + value;
}

// Copies register by register: GCC copies a pair through memory in pieces of 16 bytes, and a later
// load of the whole register stalls on them.
template <typename Vector>
HUM_INLINE void load_register(Vector& x, const void* from) {
  std::memcpy(&x, from, sizeof x);
}
template <typename Half>
HUM_INLINE void load_register(Two<Half>& x, const void* from) {
  load_register(x.low, from);
  load_register(x.high, static_cast<const char*>(from) + sizeof x.low);
}
template <typename Vector>
HUM_INLINE void store_register(void* to, const Vector& x) {
  std::memcpy(to, &x, sizeof x);
}
template <typename Half>
HUM_INLINE void store_register(void* to, const Two<Half>& x) {
  store_register(to, x.low);
  store_register(static_cast<char*>(to) + sizeof x.low, x.high);
}

template <typename Vector, typename T>
HUM_INLINE Vector load_bits(const T* from) {
  Vector x;
  load_register(x, from);
  return x;
}

template <typename Floats>
HUM_INLINE Floats load(const float* from) {
  return load_bits<Floats>(from);
}
template <typename Halves, typename Words>
HUM_INLINE Words widened(const uint16_t* from) {
  return __builtin_convertvector(load_bits<Halves>(from), Words);
}
// bf16, as its bits.
template <typename Floats>
HUM_INLINE Floats load(const uint16_t* from) {
  if constexpr (std::is_same_v<Floats, Register>) {
    return floats(widened<RegisterHalves, RegisterWords>(from) << 16);
  } else {
    return floats(two(widened<PairHalfHalves, PairHalfWords>(from),
                      widened<PairHalfHalves, PairHalfWords>(from + kLanes / 2))
                  << 16);
  }
}

HUM_INLINE void store_low_halves(uint16_t* to, RegisterWords x) {
  const auto halves = __builtin_convertvector(x, RegisterHalves);
  std::memcpy(to, &halves, sizeof halves);
}
HUM_INLINE void store_low_halves(uint16_t* to, const WordsOf<Pair>& x) {
  const auto low = __builtin_convertvector(x.low, PairHalfHalves),
             high = __builtin_convertvector(x.high, PairHalfHalves);
  std::memcpy(to, &low, sizeof low);
  std::memcpy(to + kLanes / 2, &high, sizeof high);
}

template <typename Floats>
HUM_INLINE void store(float* to, Floats x) {
  store_register(to, x);
}
// Rounds to nearest even; NaN stays NaN.
template <typename Floats>
HUM_INLINE void store(uint16_t* to, Floats x) {
  const auto words = bits(x);
  const auto rounded = (words + 0x7fff + ((words >> 16) & 1)) >> 16;
  store_low_halves(to, select(x == x, rounded, (words >> 16) | 0x40));
}

// The first `count` lanes; the others are zero.
template <typename Floats, typename T>
HUM_INLINE Floats load(const T* from, int64_t count) {
  if (count >= kLanes) return load<Floats>(from);
  T lanes[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
  return load<Floats>(lanes);
}
template <typename T, typename Floats>
HUM_INLINE void store(T* to, Floats x, int64_t count) {
  if (count >= kLanes) return store(to, x);
  T lanes[kLanes];
  store(lanes, x);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

// 0 to 15. Integers: Words or Ints.
template <typename Integers>
HUM_INLINE Integers lane_numbers() {
  static constexpr int32_t kNumbers[kLanes] = {0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};
  return load_bits<Integers>(kNumbers);
}

// x in lanes below count, 0 in the others.
template <typename Floats>
HUM_INLINE Floats keep(Floats x, int64_t count) {
  return select(lane_numbers<IntsOf<Floats>>() < static_cast<int32_t>(count), x, Floats{});
}

template <typename Floats>
HUM_INLINE float sum(Floats x) {
  using Four __attribute__((vector_size(16))) = float;
  PairHalf halves[2];
  std::memcpy(halves, &x, sizeof x);
  const PairHalf eight = halves[0] + halves[1];
  Four quarters[2];
  std::memcpy(quarters, &eight, sizeof eight);
  const Four four = quarters[0] + quarters[1];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

// rows[i][j] <-> rows[j][i]: each of four steps exchanges the D x D blocks beside the diagonal.
#define HUM_LANES_8(F) F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7)
#define HUM_LANES_16(F) HUM_LANES_8(F), F(8), F(9), F(10), F(11), F(12), F(13), F(14), F(15)
#define HUM_EXCHANGE_BLOCKS(vector, lanes)                            \
  template <int D>                                                    \
  HUM_INLINE void exchange_blocks(vector& a, vector& b) {             \
    constexpr int kCount = sizeof(vector) / sizeof(float);            \
    const vector low = __builtin_shufflevector(a, b, lanes(HUM_LOW)); \
    b = __builtin_shufflevector(a, b, lanes(HUM_HIGH));               \
    a = low;                                                          \
  }
#define HUM_LOW(l) ((l)&D ? kCount + (l)-D : (l))
#define HUM_HIGH(l) ((l)&D ? kCount + (l) : (l) + D)
HUM_EXCHANGE_BLOCKS(Register, HUM_LANES_16)
HUM_EXCHANGE_BLOCKS(PairHalf, HUM_LANES_8)
#undef HUM_LOW
#undef HUM_HIGH
#undef HUM_EXCHANGE_BLOCKS
#undef HUM_LANES_16
#undef HUM_LANES_8
template <int D>
HUM_INLINE void exchange_blocks(Pair& a, Pair& b) {
  if constexpr (D == kLanes / 2) {
    const PairHalf high = a.high;
    a.high = b.low;
    b.low = high;
  } else {
    exchange_blocks<D>(a.low, b.low);
    exchange_blocks<D>(a.high, b.high);
  }
}
template <int D, typename Floats>
HUM_INLINE void exchange_all(Floats* rows) {
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if ((i & D) == 0) exchange_blocks<D>(rows[i], rows[i + D]);
  }
}

template <typename Floats>
HUM_INLINE void transpose(Floats (&rows)[kLanes]) {
  exchange_all<8>(rows);
  exchange_all<4>(rows);
  exchange_all<2>(rows);
  exchange_all<1>(rows);
}

}  // namespace hum::kernels::simd

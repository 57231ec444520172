#include "kernels/matmul/few_rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/bf16.h"
#include "kernels/simd.h"

namespace hum::kernels {
namespace {

using graph::DType;
using simd::kLanes;

constexpr int64_t kMostRows = 4;

// Elements of b per step. bf16 is read in pairs: the even element of a pair is
// the low half of a 32-bit word, the odd one its high half.
template <typename T>
constexpr int64_t kStep = 2 * kLanes;
template <>
constexpr int64_t kStep<float> = kLanes;

template <typename Floats>
HUM_INLINE Floats multiply_add(Floats sum, const float* a, const float* b) {
  return sum + simd::load<Floats>(a) * simd::load<Floats>(b);
}
// a: sixteen even elements, then sixteen odd ones.
template <typename Floats>
HUM_INLINE Floats multiply_add(Floats sum, const float* a, const uint16_t* b) {
  const auto pairs = simd::load_bits<simd::WordsOf<Floats>>(b);
  sum += simd::load<Floats>(a) * simd::floats(pairs << 16);
  return sum + simd::load<Floats>(a + kLanes) * simd::floats(pairs & 0xffff0000U);
}

// Per-lane sums of a row of a times a row of b, in independent chains.
template <typename Floats, typename T>
HUM_INLINE Floats dot(const float* a, const T* b, int64_t k) {
  constexpr int kChains = 4;
  Floats sums[kChains] = {};
  int64_t p = 0;
  for (; p + kChains * kStep<T> <= k; p += kChains * kStep<T>) {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) {
      sums[c] = multiply_add(sums[c], a + p + c * kStep<T>, b + p + c * kStep<T>);
    }
  }
  for (; p + kStep<T> <= k; p += kStep<T>) sums[0] = multiply_add(sums[0], a + p, b + p);
  if (p < k) {
    T rest[kStep<T>] = {};
    std::copy(b + p, b + k, rest);
    sums[1] = multiply_add(sums[1], a + p, rest);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Columns [begin, end) of c[m, n] = a[m, padded] b[n, k]^T. a is f32 in multiply_add's order, with
// zeros from k to padded. Rows of b are read one after another: sixteen side by side reached only
// half the bandwidth.
template <typename Floats, typename T, typename U>
HUM_INLINE void dot_rows_body(const float* a, const T* b, U* c, int64_t m, int64_t n, int64_t k,
                              int64_t padded, int64_t begin, int64_t end) {
  for (int64_t j = begin; j < end; j += kLanes) {
    const int64_t count = std::min(end - j, kLanes);
    Floats sums[kMostRows][kLanes] = {};
    for (int64_t l = 0; l < count; ++l) {
      for (int64_t i = 0; i < m; ++i) sums[i][l] = dot<Floats>(a + i * padded, b + (j + l) * k, k);
    }
    for (int64_t i = 0; i < m; ++i) {
      simd::transpose(sums[i]);
      Floats total{};
#pragma GCC unroll 16
      for (int l = 0; l < kLanes; ++l) total += sums[i][l];
      simd::store(c + i * n + j, total, count);
    }
  }
}

#define HUM_DOT_ROWS(T, U)                                                              \
  HUM_SIMD_FUNCTION(dot_rows,                                                           \
                    (const float* a, const T* b, U* c, int64_t m, int64_t n, int64_t k, \
                     int64_t padded, int64_t begin, int64_t end),                       \
                    (a, b, c, m, n, k, padded, begin, end))
HUM_DOT_ROWS(float, float)
HUM_DOT_ROWS(uint16_t, float)
HUM_DOT_ROWS(uint16_t, uint16_t)
#undef HUM_DOT_ROWS

// Rows of a in f32, padded with zeros, in the order of multiply_add.
std::vector<float> widen(const Product& p, const float* a, int64_t padded) {
  std::vector<float> wide(static_cast<size_t>(p.m * padded), 0.0F);
  for (int64_t i = 0; i < p.m; ++i) std::copy_n(a + i * p.k, p.k, wide.data() + i * padded);
  return wide;
}
std::vector<float> widen(const Product& p, const uint16_t* a, int64_t padded) {
  std::vector<float> wide(static_cast<size_t>(p.m * padded), 0.0F);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t l = 0; l < p.k; ++l) {
      const int64_t step = l / (2 * kLanes), place = l % (2 * kLanes);
      const int64_t to = step * 2 * kLanes + (place % 2) * kLanes + place / 2;
      wide[static_cast<size_t>(i * padded + to)] = from_bf16(a[i * p.k + l]);
    }
  }
  return wide;
}

template <typename T, typename U>
void run(const Product& p, const void* a, const void* b, void* c, Workers& workers) {
  constexpr int64_t kGrainBytes = 128 * 1024;  // of b, about 5 us
  const int64_t padded = (p.k + kStep<T> - 1) / kStep<T> * kStep<T>;
  const auto wide = widen(p, static_cast<const T*>(a), padded);
  const int64_t row_bytes = p.k * static_cast<int64_t>(sizeof(T));
  const int64_t grain = std::max<int64_t>(kGrainBytes / row_bytes, kLanes);
  for_each_range(workers, p.n, grain, [&](int64_t begin, int64_t end) {
    dot_rows(wide.data(), static_cast<const T*>(b), static_cast<U*>(c), p.m, p.n, p.k, padded,
             begin, end);
  });
}

}  // namespace

bool is_few_rows(const Product& p) {
  return p.m <= kMostRows && p.transpose_b && !p.transpose_a && chosen_isa() >= Isa::kAvx2;
}

void multiply_few_rows(const Product& p, const void* a, const void* b, void* c, Workers& workers) {
  if (p.in == DType::kF32) return run<float, float>(p, a, b, c, workers);
  if (p.out == DType::kF32) return run<uint16_t, float>(p, a, b, c, workers);
  run<uint16_t, uint16_t>(p, a, b, c, workers);
}

}  // namespace hum::kernels

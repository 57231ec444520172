#include "kernels/matmul/few_rows.h"

#include <algorithm>
#include <vector>

#include "kernels/simd.h"

namespace hum::kernels {
namespace {

using graph::DType;
using simd::kLanes;

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

// Rows of b are read one after another: sixteen side by side reached only half the bandwidth.
template <typename Floats, typename T, typename U>
HUM_INLINE void few_columns_body(const FewRows<T, U>& p, int64_t begin, int64_t end) {
  const int64_t padded = widened_size<T>(p.k);
  for (int64_t j = begin; j < end; j += kLanes) {
    const int64_t count = std::min(end - j, kLanes);
    Floats sums[kMostFewRows][kLanes] = {};
    for (int64_t l = 0; l < count; ++l) {
      for (int64_t i = 0; i < p.m; ++i) {
        sums[i][l] = dot<Floats>(p.a + i * padded, p.b + (j + l) * p.k, p.k);
      }
    }
    for (int64_t i = 0; i < p.m; ++i) {
      simd::transpose(sums[i]);
      Floats total{};
#pragma GCC unroll 16
      for (int l = 0; l < kLanes; ++l) total += sums[i][l];
      simd::store(p.c + i * p.n + j, total, count);
    }
  }
}

template <typename Floats>
HUM_INLINE void widen_step(const float* from, float* to) {
  simd::store(to, simd::load<Floats>(from));
}
template <typename Floats>
HUM_INLINE void widen_step(const uint16_t* from, float* to) {
  const auto pairs = simd::load_bits<simd::WordsOf<Floats>>(from);
  simd::store(to, simd::floats(pairs << 16));
  simd::store(to + kLanes, simd::floats(pairs & 0xffff0000U));
}
template <typename Floats, typename T>
HUM_INLINE void widen_row_body(const T* row, int64_t k, float* wide) {
  int64_t p = 0;
  for (; p + kStep<T> <= k; p += kStep<T>) widen_step<Floats>(row + p, wide + p);
  if (p == k) return;
  T rest[kStep<T>] = {};
  std::copy(row + p, row + k, rest);
  widen_step<Floats>(rest, wide + p);
}

template <typename T, typename U>
void run(const Product& p, const void* a, const void* b, void* c, Workers& workers) {
  constexpr int64_t kGrainBytes = 128 * 1024;  // of b, about 5 us
  const int64_t padded = widened_size<T>(p.k);
  std::vector<float> wide(static_cast<size_t>(p.m * padded));
  for (int64_t i = 0; i < p.m; ++i) {
    widen_row(static_cast<const T*>(a) + i * p.k, p.k, wide.data() + i * padded);
  }
  const int64_t row_bytes = p.k * static_cast<int64_t>(sizeof(T));
  const int64_t grain = std::max<int64_t>(kGrainBytes / row_bytes, kLanes);
  const FewRows<T, U> rows{wide.data(), static_cast<const T*>(b), static_cast<U*>(c), p.m, p.n,
                           p.k};
  for_each_range(workers, p.n, grain,
                 [&](int64_t begin, int64_t end) { few_columns(rows, begin, end); });
}

}  // namespace

#define HUM_FEW_ROWS(T, U)                                                             \
  HUM_SIMD_FUNCTION(few_columns, (const FewRows<T, U>& p, int64_t begin, int64_t end), \
                    (p, begin, end))
HUM_FEW_ROWS(float, float)
HUM_FEW_ROWS(uint16_t, float)
HUM_FEW_ROWS(uint16_t, uint16_t)
#undef HUM_FEW_ROWS
HUM_SIMD_FUNCTION(widen_row, (const float* row, int64_t k, float* wide), (row, k, wide))
HUM_SIMD_FUNCTION(widen_row, (const uint16_t* row, int64_t k, float* wide), (row, k, wide))

template <typename T>
int64_t widened_size(int64_t k) {
  return (k + kStep<T> - 1) / kStep<T> * kStep<T>;
}
template int64_t widened_size<float>(int64_t k);
template int64_t widened_size<uint16_t>(int64_t k);

bool is_few_rows(const Product& p) {
  return p.m <= kMostFewRows && p.transpose_b && !p.transpose_a && chosen_isa() >= Isa::kAvx2;
}

void multiply_few_rows(const Product& p, const void* a, const void* b, void* c, Workers& workers) {
  if (p.in == DType::kF32) return run<float, float>(p, a, b, c, workers);
  if (p.out == DType::kF32) return run<uint16_t, float>(p, a, b, c, workers);
  run<uint16_t, uint16_t>(p, a, b, c, workers);
}

}  // namespace hum::kernels

#include "kernels/matmul/few_rows.h"

#include <algorithm>
#include <vector>

#include "kernels/simd.h"

namespace hum::kernels {
namespace {

using graph::DType;
using simd::kLanes;

constexpr int64_t kMostProductRows = 4;

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

// The sums in registers: of so many rows of a and of b, each in independent chains.
struct Tile {
  int rows, columns, chains;
};
// A single row reads b as fast as memory allows.
constexpr Tile kRow{1, 1, 4};
// Several rows compute: what is read serves several sums.
template <typename Floats>
constexpr Tile kBlock{4, 4, 1};
template <>
constexpr Tile kBlock<simd::Pair>{2, 1, 2};

// Per-lane sums of each row of a times each of b, in rows of kLanes.
template <Tile tile, typename Floats, typename T>
HUM_INLINE void dots(const float* a, int64_t padded, const T* b, int64_t k, Floats* result) {
  constexpr int kChains = tile.chains;
  Floats sums[tile.rows][tile.columns][kChains] = {};
  const auto add = [&](int chain, const float* row, const T* column, int64_t stride)
      __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int i = 0; i < tile.rows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < tile.columns; ++j) {
        Floats& sum = sums[i][j][chain];
        sum = multiply_add(sum, row + i * padded, column + j * stride);
      }
    }
  };
  int64_t p = 0;
  for (; p + kChains * kStep<T> <= k; p += kChains * kStep<T>) {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) add(c, a + p + c * kStep<T>, b + p + c * kStep<T>, k);
  }
  for (; p + kStep<T> <= k; p += kStep<T>) add(0, a + p, b + p, k);
  if (p < k) {
    T rest[tile.columns][kStep<T>] = {};
    for (int j = 0; j < tile.columns; ++j) std::copy(b + j * k + p, b + (j + 1) * k, rest[j]);
    add(0, a + p, rest[0], kStep<T>);
  }
#pragma GCC unroll 4
  for (int i = 0; i < tile.rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < tile.columns; ++j) {
      Floats* chains = sums[i][j];
      for (int n = kChains / 2; n > 0; n /= 2) {
        for (int c = 0; c < n; ++c) chains[c] += chains[c + n];
      }
      result[i * kLanes + j] = chains[0];
    }
  }
}

// Rows of b are read one or four at a time: sixteen side by side reached only half the bandwidth.
template <typename Floats, typename T, typename U>
HUM_INLINE void few_columns_body(const FewRows<T, U>& p, int64_t begin, int64_t end) {
  constexpr Tile kTile = kBlock<Floats>;
  const int64_t padded = widened_size<T>(p.k);
  Floats sums[kMostFewRows][kLanes];
  for (int64_t j = begin; j < end; j += kLanes) {
    const int64_t count = std::min(end - j, kLanes);
    const int64_t in_blocks = count == kLanes ? p.m / kTile.rows * kTile.rows : 0;
    if (count < kLanes) std::fill_n(sums[0], p.m * kLanes, Floats{});
    for (int64_t l = 0; l < count; ++l) {
      const T* b = p.b + (j + l) * p.k;
      for (int64_t i = 0; i < in_blocks && l % kTile.columns == 0; i += kTile.rows) {
        dots<kTile>(p.a + i * padded, padded, b, p.k, sums[i] + l);
      }
      for (int64_t i = in_blocks; i < p.m; ++i) {
        dots<kRow>(p.a + i * padded, padded, b, p.k, sums[i] + l);
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
  const int64_t grain = std::max<int64_t>(kGrainBytes / row_bytes / kLanes, 1);
  const FewRows<T, U> rows{wide.data(), static_cast<const T*>(b), static_cast<U*>(c), p.m, p.n,
                           p.k};
  // Whole groups of lanes, so that the order of a sum does not depend on the number of threads.
  const int64_t groups = (p.n + kLanes - 1) / kLanes;
  for_each_range(workers, groups, grain, [&](int64_t begin, int64_t end) {
    few_columns(rows, begin * kLanes, std::min(end * kLanes, p.n));
  });
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

// An odd number of cache lines, so that rows do not compete for the same sets of the cache.
template <typename T>
int64_t widened_size(int64_t k) {
  const int64_t steps = (k + kStep<T> - 1) / kStep<T>;
  return steps * kStep<T> + (steps * kStep<T> / kLanes % 2 == 0 ? kLanes : 0);
}
template int64_t widened_size<float>(int64_t k);
template int64_t widened_size<uint16_t>(int64_t k);

bool is_few_rows(const Product& p) {
  return p.m <= kMostProductRows && p.transpose_b && !p.transpose_a && chosen_isa() >= Isa::kAvx2;
}

void multiply_few_rows(const Product& p, const void* a, const void* b, void* c, Workers& workers) {
  if (p.in == DType::kF32) return run<float, float>(p, a, b, c, workers);
  if (p.out == DType::kF32) return run<uint16_t, float>(p, a, b, c, workers);
  run<uint16_t, uint16_t>(p, a, b, c, workers);
}

}  // namespace hum::kernels

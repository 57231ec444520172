#include "kernels/panel_product.h"

#include <immintrin.h>

#include <algorithm>

#include "base/error.h"
#include "kernels/simd.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

// Moves words as floats; only the bits matter.
template <typename Floats>
HUM_INLINE void store_words(uint32_t* to, Floats x) {
  simd::store(reinterpret_cast<float*>(to), x);
}

// Rows [row, row + R) and V vectors of columns from `column` on, with all sums in registers. A
// macro rather than a template, because each body must be compiled for its own instruction set.
#define HUM_TILE(name, isa, vector, vector_of_words, multiply_add)                             \
  template <int R, int V>                                                                      \
  __attribute__((target(isa))) void name(const PanelProduct& p, int64_t row, int64_t column) { \
    constexpr int64_t kWidth = sizeof(vector) / sizeof(float);                                 \
    vector sums[R][V];                                                                         \
    float* c = p.c + row * p.c_stride + column;                                                \
    for (int r = 0; r < R; ++r) {                                                              \
      for (int v = 0; v < V; ++v) {                                                            \
        const float* at = c + r * p.c_stride + v * kWidth;                                     \
        sums[r][v] = p.accumulate ? simd::load_bits<vector>(at) : vector{};                    \
      }                                                                                        \
    }                                                                                          \
    const uint32_t* a = p.a + row * p.a_stride;                                                \
    const uint32_t* b = p.b + column;                                                          \
    for (int64_t w = 0; w < p.words; ++w, b += kPanelWidth) {                                  \
      vector right[V];                                                                         \
      _Pragma("GCC unroll 4") for (int v = 0; v < V; ++v) right[v] =                           \
          simd::load_bits<vector>(b + v * kWidth);                                             \
      _Pragma("GCC unroll 12") for (int r = 0; r < R; ++r) {                                   \
        const vector_of_words left = vector_of_words{} + a[r * p.a_stride + w];                \
        _Pragma("GCC unroll 4") for (int v = 0; v < V; ++v) multiply_add;                      \
      }                                                                                        \
    }                                                                                          \
    for (int r = 0; r < R; ++r) {                                                              \
      for (int v = 0; v < V; ++v) {                                                            \
        simd::store(c + r * p.c_stride + v * kWidth, sums[r][v]);                              \
      }                                                                                        \
    }                                                                                          \
  }
HUM_TILE(tile_avx512, "avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512", simd::Register,
         simd::RegisterWords, sums[r][v] += (simd::Register)left * right[v])
HUM_TILE(tile_avx2, "avx2,fma", simd::PairHalf, simd::PairHalfWords,
         sums[r][v] += (simd::PairHalf)left * right[v])
HUM_TILE(tile_bf16, "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,prefer-vector-width=512", __m512,
         simd::RegisterWords,
         sums[r][v] = _mm512_dpbf16_ps(sums[r][v], (__m512bh)left, (__m512bh)right[v]))
#undef HUM_TILE

using Tile = void (*)(const PanelProduct& product, int64_t row, int64_t column);
constexpr int kTileRows = 6;
// A tile one vector wide needs more rows, so that enough of its sums are on their way at a time.
constexpr int kTallTileRows = 12;
// Tiles of one instruction set, indexed by rows - 1; `wide` first by vectors - 2.
struct Tiles {
  Tile narrow[kTallTileRows];
  Tile wide[3][kTileRows];
};
// Of one number of vectors.
#define HUM_TILE_ROWS(name, v) \
  name<1, v>, name<2, v>, name<3, v>, name<4, v>, name<5, v>, name<6, v>
#define HUM_TALL_TILE_ROWS(name) \
  HUM_TILE_ROWS(name, 1), name<7, 1>, name<8, 1>, name<9, 1>, name<10, 1>, name<11, 1>, name<12, 1>
#define HUM_TILES(name)                                                              \
  {                                                                                  \
    {HUM_TALL_TILE_ROWS(name)}, {                                                    \
      {HUM_TILE_ROWS(name, 2)}, {HUM_TILE_ROWS(name, 3)}, { HUM_TILE_ROWS(name, 4) } \
    }                                                                                \
  }

// For each stretch of `columns` columns of the panel, tiles down the rows.
template <size_t kRows>
void multiply_by(const PanelProduct& p, const Tile (&tiles)[kRows], int64_t columns) {
  constexpr int64_t kMost = kRows;
  for (int64_t column = 0; column < p.width; column += columns) {
    for (int64_t row = 0; row < p.rows; row += kMost) {
      tiles[std::min(kMost, p.rows - row) - 1](p, row, column);
    }
  }
}

void multiply_by(const PanelProduct& p, const Tiles& tiles) {
  if (p.width == kLanes) return multiply_by(p, tiles.narrow, p.width);
  multiply_by(p, tiles.wide[p.width / kLanes - 2], p.width);
}
constexpr Tiles kAvx512Tiles = HUM_TILES(tile_avx512), kBF16Tiles = HUM_TILES(tile_bf16);
// Sixteen floats are two registers here: tiles 16 columns wide already fill the register file.
void multiply_avx2(const PanelProduct& p) {
  static constexpr Tile kTiles[kTileRows] = {HUM_TILE_ROWS(tile_avx2, 2)};
  multiply_by(p, kTiles, kLanes);
}
#undef HUM_TILES
#undef HUM_TALL_TILE_ROWS
#undef HUM_TILE_ROWS

template <typename Floats>
HUM_INLINE void transpose_body(const uint32_t* from, int64_t from_stride, int64_t rows,
                               int64_t columns, uint32_t* to, int64_t to_stride) {
  for (int64_t r = 0; r < rows; r += kLanes) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      Floats block[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) {
        block[i] =
            r + i < rows ? simd::load_bits<Floats>(from + (r + i) * from_stride + c) : Floats{};
      }
      simd::transpose(block);
      for (int64_t i = 0; i < kLanes; ++i) store_words(to + (c + i) * to_stride + r, block[i]);
    }
  }
}
HUM_SIMD_FUNCTION(transpose,
                  (const uint32_t* from, int64_t from_stride, int64_t rows, int64_t columns,
                   uint32_t* to, int64_t to_stride),
                  (from, from_stride, rows, columns, to, to_stride))

// Packs rows 2i (low half) and 2i + 1 (high half) into words.
template <typename Floats>
HUM_INLINE void interleave_body(const uint16_t* even, const uint16_t* odd, int64_t columns,
                                uint32_t* to) {
  for (int64_t c = 0; c < columns; c += kLanes) {
    const auto low = simd::bits(simd::load<Floats>(even + c)) >> 16;
    const auto high = simd::bits(odd != nullptr ? simd::load<Floats>(odd + c) : Floats{});
    store_words(to + c, simd::floats(low | high));
  }
}
HUM_SIMD_FUNCTION(interleave,
                  (const uint16_t* even, const uint16_t* odd, int64_t columns, uint32_t* to),
                  (even, odd, columns, to))

}  // namespace

void multiply_panel(Word word, const PanelProduct& product) {
  static const Isa kIsa = chosen_isa();
  if (word == Word::kBF16Pair) {
    HUM_CHECK(kIsa >= Isa::kAvx512Bf16);
    return multiply_by(product, kBF16Tiles);
  }
  HUM_CHECK(kIsa >= Isa::kAvx2);
  kIsa >= Isa::kAvx512 ? multiply_by(product, kAvx512Tiles) : multiply_avx2(product);
}

void multiply_panels(Word word, PanelProduct product, int64_t columns) {
  for (int64_t done = 0; done < columns; done += kPanelWidth) {
    product.width = std::min(kPanelWidth, columns - done);
    multiply_panel(word, product);
    product.b += product.words * kPanelWidth;
    product.c += kPanelWidth;
  }
}

void transpose_words(const uint32_t* from, int64_t from_stride, int64_t rows, int64_t columns,
                     uint32_t* to, int64_t to_stride) {
  transpose(from, from_stride, rows, columns, to, to_stride);
}

void pack_rows(Word word, const uint32_t* from, int64_t stride, int64_t rows, int64_t columns,
               uint32_t* panels) {
  const int64_t words = words_of(word, rows);
  for (int64_t first = 0; first < columns; first += kPanelWidth, panels += words * kPanelWidth) {
    const int64_t width = std::min(kPanelWidth, columns - first);
    for (int64_t w = 0; w < words; ++w) {
      uint32_t* to = panels + w * kPanelWidth;
      if (word == Word::kF32) {
        std::copy_n(from + w * stride + first, width, to);
        continue;
      }
      const auto* even = reinterpret_cast<const uint16_t*>(from + 2 * w * stride) + first;
      const bool paired = 2 * w + 1 < rows;
      const auto* odd = reinterpret_cast<const uint16_t*>(from + (2 * w + 1) * stride) + first;
      interleave(even, paired ? odd : nullptr, width, to);
    }
  }
}

}  // namespace hum::kernels

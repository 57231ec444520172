// Small matrix products on one core, for kernels that keep their matrices in cache: C += A B with
// the contracting dim in 32-bit words, each one f32 or two neighbouring bf16 (sums are always f32).
// Not for whole layers: those go to matmul/.
#pragma once

#include <cstdint>

namespace hum::kernels {

enum class Word { kF32, kBF16Pair };

// Columns of B per panel. B is stored as [panel][words][kPanelWidth].
constexpr int64_t kPanelWidth = 64;

// One panel: c[rows, width] = or += a[rows, words] b[words, width].
struct PanelProduct {
  const uint32_t* a;
  int64_t a_stride;   // words from row to row
  const uint32_t* b;  // [words][kPanelWidth]
  float* c;
  int64_t c_stride;  // floats from row to row
  int64_t rows;
  int64_t words;
  int64_t width = kPanelWidth;  // a multiple of 16
  bool accumulate = false;
};

// kBF16Pair needs Isa::kAvx512Bf16, kF32 needs Isa::kAvx2.
void multiply_panel(Word word, const PanelProduct& product);

// The same for `columns` columns of B (a multiple of 16) in consecutive panels.
void multiply_panels(Word word, PanelProduct product, int64_t columns);

// to[c][r] = from[r][c]; `columns` is a multiple of 16. `rows` is padded with zeros to a multiple
// of 16.
void transpose_words(const uint32_t* from, int64_t from_stride, int64_t rows, int64_t columns,
                     uint32_t* to, int64_t to_stride);

// Packs `from`[rows, columns] (f32 or bf16, rows `stride` words apart) into panels of B, with its
// rows as the contracting dim: f32 rows are copied, bf16 rows 2i and 2i + 1 form the words of row i
// (an odd last row is paired with zeros). `columns` is a multiple of 16.
// Shapes: -> [panel][words][64].
void pack_rows(Word word, const uint32_t* from, int64_t stride, int64_t rows, int64_t columns,
               uint32_t* panels);

inline int64_t words_of(Word word, int64_t elements) {
  return word == Word::kF32 ? elements : (elements + 1) / 2;
}

}  // namespace hum::kernels

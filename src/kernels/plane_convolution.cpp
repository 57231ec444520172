// Each tap is a product of x, shifted by some rows and columns, with the kernel's matrix for that
// tap. A strided transpose is a convolution of stride 1 for each phase of the result, each with
// some of the taps.
#include "kernels/plane_convolution.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/cpu_features.h"
#include "kernels/joined_columns.h"
#include "kernels/simd.h"

namespace hum::kernels {
namespace {

constexpr int64_t kBlock = 96;  // results whose sums stay in L1

struct Sizes : PlaneConvolution {
  int64_t in_words() const { return words_of(word, inputs); }
  int64_t out_words() const { return words_of(word, outputs); }
  int64_t panels() const { return (outputs + kPanelWidth - 1) / kPanelWidth; }
};

// Result r of a phase, at y_begin + r y_step, sums x[r x_step + shift] kernel[index] over its taps,
// which are in order of shift.
struct Tap {
  int64_t index, shift;
};
struct Phase {
  std::vector<Tap> taps;
  int64_t x_step, y_begin, y_step, count;
};

std::vector<Phase> phases_of(const ConvolutionAxis& axis) {
  std::vector<Phase> phases;
  if (!axis.transposed) {
    phases.push_back({{}, axis.stride, 0, 1, axis.out});
    for (int64_t k = 0; k < axis.taps; ++k) {
      phases[0].taps.push_back({k, k * axis.dilation - axis.padding_low});
    }
    return phases;
  }
  for (int64_t p = 0; p < std::min(axis.stride, axis.out); ++p) {
    phases.push_back({{}, 1, p, axis.stride, (axis.out - p + axis.stride - 1) / axis.stride});
    for (int64_t k = axis.taps - 1; k >= 0; --k) {
      const int64_t ahead = p + axis.padding_low - k * axis.dilation;
      if (ahead % axis.stride == 0) phases.back().taps.push_back({k, ahead / axis.stride});
    }
  }
  return phases;
}

// The results of one phase of the rows and one of the columns.
struct Part {
  const Phase &rows, &columns;
  int64_t taps() const { return std::ssize(rows.taps) * std::ssize(columns.taps); }
};

// The part's share of the kernel. Shapes: [rows, columns, I, O] -> [panel][row tap][column
// tap][words of I][64].
AlignedMemory pack(Workers& workers, const Sizes& s, const Part& part, const uint32_t* kernel) {
  const int64_t taps = part.taps(), tap_words = s.in_words() * kPanelWidth,
                across = std::ssize(part.columns.taps);
  AlignedMemory packed =
      aligned_memory(static_cast<size_t>(s.panels() * taps * tap_words) * sizeof(uint32_t));
  auto* const words = reinterpret_cast<uint32_t*>(packed.get());
  for_each_range(workers, s.panels() * taps, 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i / taps * kPanelWidth,
                    width = std::min(kPanelWidth, s.outputs - column), tap = i % taps;
      const int64_t index =
          part.rows.taps[static_cast<size_t>(tap / across)].index * s.columns.taps +
          part.columns.taps[static_cast<size_t>(tap % across)].index;
      pack_rows(s.word, kernel + index * s.inputs * s.out_words() + words_of(s.word, column),
                s.out_words(), s.inputs, width, words + i * tap_words);
    }
  });
  return packed;
}

// Columns [begin, end) of a row of x, zero outside [0, size): x itself if all are inside, else a
// `spare` copy.
const uint32_t* columns_of(const uint32_t* x, int64_t size, int64_t words, int64_t begin,
                           int64_t end, uint32_t* spare) {
  if (begin >= 0 && end <= size) return x + begin * words;
  const int64_t first = std::clamp<int64_t>(begin, 0, size), last = std::clamp(end, first, size);
  std::fill_n(spare, (end - begin) * words, 0);
  std::copy_n(x + first * words, (last - first) * words, spare + (first - begin) * words);
  return spare;
}

// Adds the sum over the taps of a row to c[columns, width], or sets it. Taps with consecutive
// shifts form one longer product.
void sum_taps(const Sizes& s, const Phase& columns, const uint32_t* x, PanelProduct product) {
  const auto& taps = columns.taps;
  const int64_t words = s.in_words();
  const uint32_t* panel = product.b;
  for (size_t from = 0, to = 0; from < taps.size(); from = to) {
    for (to = from + 1; to < taps.size() && taps[to].shift == taps[to - 1].shift + 1;) ++to;
    product.a = x + (taps[from].shift - taps[0].shift) * words;
    product.b = panel + static_cast<int64_t>(from) * words * kPanelWidth;
    product.words = static_cast<int64_t>(to - from) * words;
    multiply_panel(s.word, product);
    product.accumulate = true;
  }
}

template <typename Floats, typename T>
HUM_INLINE void store_rows_body(const float* c, int64_t rows, int64_t width, T* y,
                                int64_t y_stride) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t column = 0; column < width; column += simd::kLanes) {
      simd::store(y + r * y_stride + column, simd::load<Floats>(c + r * kPanelWidth + column));
    }
  }
}
HUM_SIMD_FUNCTION(store_rows,
                  (const float* c, int64_t rows, int64_t width, float* y, int64_t y_stride),
                  (c, rows, width, y, y_stride))
HUM_SIMD_FUNCTION(store_rows,
                  (const float* c, int64_t rows, int64_t width, uint16_t* y, int64_t y_stride),
                  (c, rows, width, y, y_stride))

// Results of a part: rows and columns of the phases, and one panel of the outputs.
struct Block {
  int64_t row, rows, column, columns, output, width;
};

// c[rows][columns][64]. All rows use the panel of a tap of the rows while it is in cache.
void sum_block(const Sizes& s, const Part& part, const Block& block, const uint32_t* x,
               const uint32_t* panel, float* c, uint32_t* spare) {
  const Phase &rows = part.rows, &columns = part.columns;
  const int64_t words = s.in_words(), row_floats = block.columns * kPanelWidth;
  std::array<bool, kBlock> started = {};
  if (part.taps() > 0) {
    const int64_t from = block.column * columns.x_step + columns.taps[0].shift,
                  reach = columns.taps.back().shift - columns.taps[0].shift,
                  to = from + (block.columns - 1) * columns.x_step + reach + 1;
    for (const Tap& tap : rows.taps) {
      for (int64_t r = 0; r < block.rows; ++r) {
        const int64_t in = (block.row + r) * rows.x_step + tap.shift;
        if (in < 0 || in >= s.rows.in) continue;
        const uint32_t* row = x + in * s.columns.in * words;
        bool& has_sum = started[static_cast<size_t>(r)];
        sum_taps(s, columns, columns_of(row, s.columns.in, words, from, to, spare),
                 {.a = nullptr,
                  .a_stride = columns.x_step * words,
                  .b = panel,
                  .c = c + r * row_floats,
                  .c_stride = kPanelWidth,
                  .rows = block.columns,
                  .words = 0,
                  .width = block.width,
                  .accumulate = has_sum});
        has_sum = true;
      }
      panel += std::ssize(columns.taps) * words * kPanelWidth;
    }
  }
  for (int64_t r = 0; r < block.rows; ++r) {
    if (!started[static_cast<size_t>(r)]) std::fill_n(c + r * row_floats, row_floats, 0.0F);
  }
}

// One block of an item.
template <typename T>
void compute_block(const Sizes& s, const Part& part, const Block& block, const uint32_t* x,
                   const uint32_t* panel, T* y) {
  const Phase &rows = part.rows, &columns = part.columns;
  const int64_t reach =
      columns.taps.empty() ? 0 : columns.taps.back().shift - columns.taps[0].shift;
  const int64_t window = (block.columns - 1) * columns.x_step + reach + 1;
  constexpr int64_t kSums = kBlock * kPanelWidth;
  auto* c = reinterpret_cast<float*>(
      thread_scratch(static_cast<size_t>(kSums + window * s.in_words()) * 4).data());
  sum_block(s, part, block, x, panel, c, reinterpret_cast<uint32_t*>(c + kSums));
  for (int64_t r = 0; r < block.rows; ++r) {
    const int64_t row = rows.y_begin + (block.row + r) * rows.y_step,
                  column = columns.y_begin + block.column * columns.y_step;
    store_rows(c + r * block.columns * kPanelWidth, block.columns, block.width,
               y + (row * s.columns.out + column) * s.outputs + block.output,
               columns.y_step * s.outputs);
  }
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <typename T>
void compute_part(Workers& workers, const Sizes& s, const Part& part, const uint32_t* x,
                  const uint32_t* kernel, T* y) {
  const AlignedMemory packed = pack(workers, s, part, kernel);
  const auto* words = reinterpret_cast<const uint32_t*>(packed.get());
  const int64_t panel_words = part.taps() * s.in_words() * kPanelWidth;
  const int64_t columns = std::min(kBlock, part.columns.count),
                rows = std::min(kBlock / columns, part.rows.count);
  const int64_t across = divide_up(part.columns.count, columns),
                down = divide_up(part.rows.count, rows), panels = s.panels();
  for_each_range(workers, s.batch * down * across * panels, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t panel = i % panels, column = i / panels % across * columns,
                    row = i / panels / across % down * rows, item = i / panels / across / down,
                    output = panel * kPanelWidth;
      const Block block{.row = row,
                        .rows = std::min(rows, part.rows.count - row),
                        .column = column,
                        .columns = std::min(columns, part.columns.count - column),
                        .output = output,
                        .width = std::min(kPanelWidth, s.outputs - output)};
      compute_block(s, part, block, x + item * s.rows.in * s.columns.in * s.in_words(),
                    words + panel * panel_words, y + item * s.rows.out * s.columns.out * s.outputs);
    }
  });
}

}  // namespace

void convolve(const PlaneConvolution& convolution, const void* x, const void* kernel, void* y,
              Workers& workers) {
  const JoinedColumns joined = join_columns(convolution, kernel);
  const Sizes s{joined.convolution};
  const auto* in = static_cast<const uint32_t*>(x);
  const auto* weights = static_cast<const uint32_t*>(joined.kernel);
  const auto columns = phases_of(s.columns);
  for (const Phase& rows : phases_of(s.rows)) {
    for (const Phase& across : columns) {
      const Part part{rows, across};
      if (s.word == Word::kBF16Pair) {
        compute_part(workers, s, part, in, weights, static_cast<uint16_t*>(y));
      } else {
        compute_part(workers, s, part, in, weights, static_cast<float*>(y));
      }
    }
  }
}

bool can_convolve(const graph::Node& call, int64_t step) {
  constexpr int64_t kLeastRows = 16, kLeastProducts = 1 << 20;
  const graph::Shape &x = call.input(0).shape(), &kernel = call.input(1).shape();
  const graph::Shape& y = call.shapes()[0];
  const bool narrow = x.dtype == graph::DType::kBF16;
  const int64_t rows = std::min(x.elements() / x.size(-1), y.elements() / y.size(-1));
  return chosen_isa() >= (narrow ? Isa::kAvx512Bf16 : Isa::kAvx2) &&
         columns_to_join(y.size(-1), y.size(-2), step).has_value() &&
         (!narrow || x.size(-1) % 2 == 0) && rows >= kLeastRows &&
         rows * kernel.elements() >= kLeastProducts;
}

}  // namespace hum::kernels

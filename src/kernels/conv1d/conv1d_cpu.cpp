// Each tap is a product of x, shifted by some rows, with the kernel's matrix for that tap. A
// strided transpose is `stride` convolutions of stride 1, each with some of the taps.
#include <algorithm>
#include <vector>

#include "graph/ops/custom_call.h"
#include "kernels/conv1d/conv1d.h"
#include "kernels/ffi_workers.h"
#include "kernels/panel_product.h"
#include "kernels/simd.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

constexpr int64_t kBlockRows = 96;  // of results, whose sums stay in L1

struct Sizes {
  Word word = Word::kF32;
  int64_t batch = 0, in_time = 0, out_time = 0;
  int64_t inputs = 0, outputs = 0;
  int64_t in_words() const { return words_of(word, inputs); }
  int64_t out_words() const { return words_of(word, outputs); }
  int64_t panels() const { return (outputs + kPanelWidth - 1) / kPanelWidth; }
};

// Result r of a phase, row y_begin + r y_step of y, sums x[r x_step + shift] kernel[index] over its
// taps, which are in order of shift.
struct Tap {
  int64_t index, shift;
};
struct Phase {
  std::vector<Tap> taps;
  int64_t x_step, y_begin, y_step, rows;
};

std::vector<Phase> phases_of(const pjrt::ffi::Call& call, bool transposed) {
  const auto attributes = call.attributes();
  const int64_t stride = attributes.integer("stride"), dilation = attributes.integer("dilation"),
                low = attributes.integer("padding_low");
  const int64_t taps = call.argument(1).size(0), time = call.result(0).size(1);
  std::vector<Phase> phases;
  if (!transposed) {
    phases.push_back({{}, stride, 0, 1, time});
    for (int64_t k = 0; k < taps; ++k) phases[0].taps.push_back({k, k * dilation - low});
    return phases;
  }
  for (int64_t p = 0; p < std::min(stride, time); ++p) {
    phases.push_back({{}, 1, p, stride, (time - p + stride - 1) / stride});
    for (int64_t k = taps - 1; k >= 0; --k) {
      const int64_t ahead = p + low - k * dilation;
      if (ahead % stride == 0) phases.back().taps.push_back({k, ahead / stride});
    }
  }
  return phases;
}

// The phase's part of the kernel. Shapes: [K, I, O] -> [panel][tap][words of I][64].
AlignedMemory pack(Workers& workers, const Sizes& s, const Phase& phase, const uint32_t* kernel) {
  const int64_t taps = std::ssize(phase.taps), tap_words = s.in_words() * kPanelWidth;
  AlignedMemory packed =
      aligned_memory(static_cast<size_t>(s.panels() * taps * tap_words) * sizeof(uint32_t));
  auto* const words = reinterpret_cast<uint32_t*>(packed.get());
  for_each_range(workers, s.panels() * taps, 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i / taps * kPanelWidth,
                    width = std::min(kPanelWidth, s.outputs - column);
      const int64_t row = phase.taps[static_cast<size_t>(i % taps)].index * s.inputs;
      pack_rows(s.word, kernel + row * s.out_words() + words_of(s.word, column), s.out_words(),
                s.inputs, width, words + i * tap_words);
    }
  });
  return packed;
}

// Rows [begin, end) of x, zero outside [0, time): x itself if all are inside, else a `spare` copy.
const uint32_t* rows_of(const uint32_t* x, int64_t time, int64_t words, int64_t begin, int64_t end,
                        uint32_t* spare) {
  if (begin >= 0 && end <= time) return x + begin * words;
  const int64_t first = std::clamp<int64_t>(begin, 0, time), last = std::clamp(end, first, time);
  std::fill_n(spare, (end - begin) * words, 0);
  std::copy_n(x + first * words, (last - first) * words, spare + (first - begin) * words);
  return spare;
}

// c[rows, width] = the sum over taps. Taps with consecutive shifts form one longer product.
void sum_taps(const Sizes& s, const Phase& phase, const uint32_t* x, PanelProduct product) {
  const auto& taps = phase.taps;
  const int64_t words = s.in_words();
  const uint32_t* panel = product.b;
  product.accumulate = false;
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

// One panel of the phase's rows [begin, end) of an item.
template <typename T>
void compute_block(const Sizes& s, const Phase& phase, const uint32_t* x, const uint32_t* panel,
                   int64_t begin, int64_t end, int64_t column, T* y) {
  const int64_t rows = end - begin, width = std::min(kPanelWidth, s.outputs - column);
  const int64_t words = s.in_words();
  const int64_t reach = phase.taps.empty() ? 0 : phase.taps.back().shift - phase.taps[0].shift;
  const int64_t window = (rows - 1) * phase.x_step + reach + 1;
  constexpr int64_t kSums = kBlockRows * kPanelWidth;
  auto* c = reinterpret_cast<float*>(
      thread_scratch(static_cast<size_t>(kSums + window * words) * 4).data());
  if (phase.taps.empty()) {
    std::fill_n(c, kSums, 0.0F);
  } else {
    const int64_t from = begin * phase.x_step + phase.taps[0].shift;
    const uint32_t* in =
        rows_of(x, s.in_time, words, from, from + window, reinterpret_cast<uint32_t*>(c + kSums));
    sum_taps(s, phase, in,
             {.a = in,
              .a_stride = phase.x_step * words,
              .b = panel,
              .c = c,
              .c_stride = kPanelWidth,
              .rows = rows,
              .words = 0,
              .width = width});
  }
  const int64_t y_stride = phase.y_step * s.outputs;
  store_rows(c, rows, width, y + phase.y_begin * s.outputs + begin * y_stride + column, y_stride);
}

template <typename T>
void compute_phase(Workers& workers, const Sizes& s, const Phase& phase, const uint32_t* x,
                   const uint32_t* kernel, T* y) {
  const AlignedMemory packed = pack(workers, s, phase, kernel);
  const auto* panel_data = reinterpret_cast<const uint32_t*>(packed.get());
  const int64_t panel_words = std::ssize(phase.taps) * s.in_words() * kPanelWidth;
  const int64_t blocks = (phase.rows + kBlockRows - 1) / kBlockRows, panels = s.panels();
  for_each_range(workers, s.batch * blocks * panels, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t panel = i % panels, block = i / panels % blocks, item = i / panels / blocks;
      const int64_t begin = block * kBlockRows, end = std::min(begin + kBlockRows, phase.rows);
      compute_block(s, phase, x + item * s.in_time * s.in_words(), panel_data + panel * panel_words,
                    begin, end, panel * kPanelWidth, y + item * s.out_time * s.outputs);
    }
  });
}

void run(const pjrt::ffi::Call& call, bool transposed) {
  const auto x = call.argument(0), kernel = call.argument(1), y = call.result(0);
  const Sizes sizes{.word = x.is_bf16() ? Word::kBF16Pair : Word::kF32,
                    .batch = x.size(0),
                    .in_time = x.size(1),
                    .out_time = y.size(1),
                    .inputs = x.size(2),
                    .outputs = y.size(2)};
  CallWorkers workers(call);
  const auto* in = static_cast<const uint32_t*>(x.data());
  const auto* weights = static_cast<const uint32_t*>(kernel.data());
  for (const Phase& phase : phases_of(call, transposed)) {
    if (x.is_bf16()) {
      compute_phase(workers, sizes, phase, in, weights, y.as<uint16_t>().data());
    } else {
      compute_phase(workers, sizes, phase, in, weights, y.as<float>().data());
    }
  }
}

void conv1d_handler(const pjrt::ffi::Call& call) { run(call, false); }
void conv_transpose1d_handler(const pjrt::ffi::Call& call) { run(call, true); }

bool conv1d_available(const graph::Node& node) {
  constexpr int64_t kLeastRows = 16, kLeastProducts = 1 << 20;
  const graph::Shape &x = node.input(0).shape(), &kernel = node.input(1).shape();
  const graph::Shape& y = node.shapes()[0];
  const bool narrow = x.dtype == graph::DType::kBF16;
  const int64_t rows = x.dims[0] * std::min(x.dims[1], y.dims[1]);
  return chosen_isa() >= (narrow ? Isa::kAvx512Bf16 : Isa::kAvx2) &&
         y.dims[2] % simd::kLanes == 0 && (!narrow || x.dims[2] % 2 == 0) && rows >= kLeastRows &&
         rows * kernel.elements() >= kLeastProducts;
}

}  // namespace

const Kernel kConv1dKernel = {{"hum.conv1d", 1, &pjrt::ffi::handler<conv1d_handler>},
                              conv1d_available};
const Kernel kConvTranspose1dKernel = {
    {"hum.conv_transpose1d", 1, &pjrt::ffi::handler<conv_transpose1d_handler>}, conv1d_available};

}  // namespace hum::kernels

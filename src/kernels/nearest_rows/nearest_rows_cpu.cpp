#include <algorithm>
#include <span>

#include "graph/ops/custom_call.h"
#include "kernels/ffi_workers.h"
#include "kernels/nearest_rows/nearest_rows.h"
#include "kernels/panel_product.h"
#include "kernels/simd.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

constexpr int64_t kBlockRows = 96;  // their scores against one panel stay in L1

// For each lane of a row: the largest score so far, and its entry.
struct Best {
  float scores[kLanes];
  int32_t entries[kLanes];
};

// scores[rows][kPanelWidth]: of vectors against entries [first, first + width).
template <typename Floats>
HUM_INLINE void keep_largest_body(const float* scores, const float* offsets, int64_t rows,
                                  int64_t width, int32_t first, Best* best) {
  using Ints = simd::IntsOf<Floats>;
  const auto lane = simd::lane_numbers<Ints>();
  for (int64_t r = 0; r < rows; ++r) {
    Floats most = simd::load<Floats>(best[r].scores);
    auto entry = simd::load_bits<Ints>(best[r].entries);
    for (int64_t c = 0; c < width; c += kLanes) {
      const Floats score = simd::load<Floats>(scores + r * kPanelWidth + c) -
                           simd::load<Floats>(offsets + first + c);
      const auto larger = score > most;
      most = simd::select(larger, score, most);
      entry = simd::select(larger, lane + (first + static_cast<int32_t>(c)), entry);
    }
    simd::store(best[r].scores, most);
    std::memcpy(best[r].entries, &entry, sizeof entry);
  }
}
HUM_SIMD_FUNCTION(keep_largest,
                  (const float* scores, const float* offsets, int64_t rows, int64_t width,
                   int32_t first, Best* best),
                  (scores, offsets, rows, width, first, best))

int32_t first_largest(const Best& best) {
  int64_t found = 0;
  for (int64_t l = 1; l < kLanes; ++l) {
    const bool equal = best.scores[l] == best.scores[found];
    if (best.scores[l] > best.scores[found] || (equal && best.entries[l] < best.entries[found])) {
      found = l;
    }
  }
  return best.entries[found];
}

struct Search {
  const float *x, *panels, *offsets;
  int64_t size, entries;
};

void search_block(const Search& s, int64_t begin, int64_t end, int32_t* found) {
  Best best[kBlockRows];
  for (Best& row : best) {
    std::fill_n(row.scores, kLanes, -__builtin_inff());
    std::fill_n(row.entries, kLanes, 0);
  }
  alignas(64) float scores[kBlockRows * kPanelWidth];
  for (int64_t first = 0; first < s.entries; first += kPanelWidth) {
    const int64_t width = std::min(kPanelWidth, s.entries - first);
    multiply_panel(Word::kF32, {.a = reinterpret_cast<const uint32_t*>(s.x + begin * s.size),
                                .a_stride = s.size,
                                .b = reinterpret_cast<const uint32_t*>(s.panels + first * s.size),
                                .c = scores,
                                .c_stride = kPanelWidth,
                                .rows = end - begin,
                                .words = s.size,
                                .width = width});
    keep_largest(scores, s.offsets, end - begin, width, static_cast<int32_t>(first), best);
  }
  for (int64_t r = begin; r < end; ++r) found[r] = first_largest(best[r - begin]);
}

void nearest_rows_handler(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0), table = call.argument(1);
  const int64_t count = x.size(0), size = x.size(1), entries = table.size(0);
  // The padding of a narrow last panel is never read.
  const int64_t padded = (entries + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
  auto* panels = reinterpret_cast<float*>(
      thread_scratch(static_cast<size_t>(padded * size) * sizeof(float)).data());
  const auto* rows = table.as<const float>().data();
  for (int64_t first = 0; first < entries; first += kPanelWidth) {
    transpose_words(reinterpret_cast<const uint32_t*>(rows + first * size), size,
                    std::min(kPanelWidth, entries - first), size,
                    reinterpret_cast<uint32_t*>(panels + first * size), kPanelWidth);
  }
  const Search search{x.as<const float>().data(), panels, call.argument(2).as<const float>().data(),
                      size, entries};
  int32_t* found = call.result(0).as<int32_t>().data();
  CallWorkers workers(call);
  for_each_chunk(workers, (count + kBlockRows - 1) / kBlockRows, [&](int64_t block) {
    const int64_t begin = block * kBlockRows;
    search_block(search, begin, std::min(begin + kBlockRows, count), found);
  });
}

bool nearest_rows_available(const graph::Node& node) {
  constexpr int64_t kLeastRows = 32;
  const graph::Shape &x = node.input(0).shape(), &table = node.input(1).shape();
  return chosen_isa() >= Isa::kAvx2 && x.dims[0] >= kLeastRows && x.dims[1] > 0 &&
         x.dims[1] % kLanes == 0 && table.dims[0] > 0 && table.dims[0] % kLanes == 0;
}

}  // namespace

const Kernel kNearestRowsKernel = {
    {"hum.nearest_rows", 1, &pjrt::ffi::handler<nearest_rows_handler>}, nearest_rows_available};

}  // namespace hum::kernels

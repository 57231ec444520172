// A counting sort of the ids gives every row of the table one writer: results are bit-equal for any
// number of threads.
#include <algorithm>
#include <numeric>
#include <ranges>
#include <span>
#include <vector>

#include "graph/ops/custom_call.h"
#include "kernels/embedding/embedding.h"
#include "kernels/ffi_workers.h"
#include "kernels/simd.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

// The places of each row's ids: order[starts[row]] up to order[starts[row + 1]], ascending.
struct Places {
  std::vector<int32_t> starts, order;
  int64_t rows() const { return std::ssize(starts) - 1; }
};

Places sort_by_row(std::span<const int32_t> ids, int64_t rows) {
  const auto inside = [&](int32_t id) { return id >= 0 && id < rows; };
  Places places{std::vector<int32_t>(static_cast<size_t>(rows + 1)), {}};
  for (const int32_t id : ids) {
    if (inside(id)) ++places.starts[static_cast<size_t>(id) + 1];
  }
  std::partial_sum(places.starts.begin(), places.starts.end(), places.starts.begin());
  places.order.resize(static_cast<size_t>(places.starts.back()));
  std::vector<int32_t> next = places.starts;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!inside(ids[i])) continue;
    const int32_t at = next[static_cast<size_t>(ids[i])]++;
    places.order[static_cast<size_t>(at)] = static_cast<int32_t>(i);
  }
  return places;
}

// sum[0, columns) = the sum of the rows of dy (bf16) at `count` places, added in order in f32.
template <typename Floats>
HUM_INLINE void sum_places_body(const uint16_t* dy, const int32_t* places, int64_t count,
                                int64_t columns, uint16_t* sum) {
  constexpr int64_t kVectors = 8;
  int64_t c = 0;
  for (; c + kVectors * kLanes <= columns; c += kVectors * kLanes) {
    Floats total[kVectors] = {};
    for (int64_t i = 0; i < count; ++i) {
      const uint16_t* from = dy + places[i] * columns + c;
#pragma GCC unroll 8
      for (int64_t v = 0; v < kVectors; ++v) total[v] += simd::load<Floats>(from + v * kLanes);
    }
    for (int64_t v = 0; v < kVectors; ++v) simd::store(sum + c + v * kLanes, total[v]);
  }
  for (; c < columns; c += kLanes) {
    Floats total{};
    for (int64_t i = 0; i < count; ++i) {
      total += simd::load<Floats>(dy + places[i] * columns + c, columns - c);
    }
    simd::store(sum + c, total, columns - c);
  }
}
HUM_SIMD_FUNCTION(sum_places,
                  (const uint16_t* dy, const int32_t* places, int64_t count, int64_t columns,
                   uint16_t* sum),
                  (dy, places, count, columns, sum))

// The first row with at least `work` rows written and read before it.
int64_t row_after(const Places& places, int64_t work) {
  const auto rows = std::views::iota(int64_t{0}, places.rows());
  const auto at = std::ranges::partition_point(
      rows, [&](int64_t row) { return row + places.starts[static_cast<size_t>(row)] < work; });
  return at - rows.begin();
}

void embedding_grad_handler(const pjrt::ffi::Call& call) {
  const auto dy = call.argument(1).as<const uint16_t>();
  const auto sums = call.result(0).as<uint16_t>();
  const int64_t columns = call.result(0).size(1);
  const Places places =
      sort_by_row(call.argument(0).as<const int32_t>(), call.attributes().integer("rows"));
  constexpr int64_t kGrainElements = 32768, kMostParts = 64;
  const int64_t work = places.rows() + std::ssize(places.order);
  const int64_t parts = std::clamp<int64_t>(work * columns / kGrainElements, 1, kMostParts);
  CallWorkers workers(call);
  for_each_chunk(workers, parts, [&](int64_t part) {
    const int64_t end =
        part + 1 == parts ? places.rows() : row_after(places, work * (part + 1) / parts);
    for (int64_t row = row_after(places, work * part / parts); row < end; ++row) {
      const auto begin = places.starts[static_cast<size_t>(row)];
      sum_places(dy.data(), places.order.data() + begin,
                 places.starts[static_cast<size_t>(row) + 1] - begin, columns,
                 sums.data() + row * columns);
    }
  });
}

// On f32 tables XLA's scatter is as fast (embedding_bench.cpp); on bf16 ones it sums in f32 and
// narrows the whole table.
bool embedding_grad_available(const graph::Node& node) {
  constexpr int64_t kLeastElements = 4096;
  return chosen_isa() >= Isa::kAvx2 && node.input(0).dtype() == graph::DType::kI32 &&
         node.input(1).dtype() == graph::DType::kBF16 &&
         node.input(1).shape().elements() >= kLeastElements;
}

}  // namespace

const Kernel kEmbeddingGradKernel = {
    {"hum.embedding_grad", 1, &pjrt::ffi::handler<embedding_grad_handler>},
    embedding_grad_available};

}  // namespace hum::kernels

#include "kernels/row_sums.h"

#include <algorithm>
#include <vector>

namespace hum::kernels {

void sum_over_rows(Workers& workers, int64_t rows, int64_t columns, float* result,
                   const std::function<void(int64_t, int64_t, float*)>& body) {
  constexpr int64_t kGrainElements = 16384, kMostParts = 64;
  const int64_t grain_rows = std::max<int64_t>(kGrainElements / std::max<int64_t>(columns, 1), 1);
  const int64_t parts = std::clamp<int64_t>(rows / grain_rows, 1, kMostParts);
  std::vector<float> sums(static_cast<size_t>(parts * columns), 0.0F);
  for_each_chunk(workers, parts, [&](int64_t i) {
    body(rows * i / parts, rows * (i + 1) / parts, sums.data() + i * columns);
  });
  std::fill_n(result, columns, 0.0F);
  for (int64_t i = 0; i < parts; ++i) {
    for (int64_t c = 0; c < columns; ++c) result[c] += sums[static_cast<size_t>(i * columns + c)];
  }
}

}  // namespace hum::kernels

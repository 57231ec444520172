// Sums over the rows of a matrix on several threads: the gradients of biases and scales.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/parallel.h"

namespace hum::kernels {

// result[c] = sum over rows, where body(begin, end, sums) adds rows [begin, end) to sums[columns].
// The split of the rows depends only on the sizes, and the parts are added in order: results are
// bit-equal for any number of threads.
void sum_over_rows(Workers& workers, int64_t rows, int64_t columns, float* result,
                   const std::function<void(int64_t begin, int64_t end, float* sums)>& body);

}  // namespace hum::kernels

// The number of threads hum computes with, and a parallel loop over independent items.
#pragma once

#include <cstdint>
#include <functional>

namespace hum {

// HUM_THREADS, or the number of cores available to this process. Throws: kUsage if the variable is
// not a whole number of 1 or more.
int compute_threads();

// Runs body(i) for i in [0, count) on up to `threads` threads. Rethrows the first exception after
// all threads have stopped.
void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body);

}  // namespace hum

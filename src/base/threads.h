// How many threads hum computes with, and a parallel loop over independent items.
#pragma once

#include <cstdint>
#include <functional>

namespace hum {

// HUM_THREADS, or the number of cores this process may run on.
int compute_threads();

// body(i) for i in [0, count) on up to `threads` threads; the first exception is rethrown after all
// have stopped.
void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body);

}  // namespace hum

// Framework for row-wise kernels on f32 or bf16: which calls are worthwhile, splitting rows over
// threads, and dispatch by dtype.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "graph/value.h"
#include "kernels/cpu_features.h"
#include "kernels/ffi_workers.h"

namespace hum::kernels {

// Whether the machine has vectors for a kernel, and the node's first input is large enough to
// justify the call.
inline bool worth_a_row_kernel(const graph::Node& node) {
  constexpr int64_t kLeastElements = 4096;
  return chosen_isa() >= Isa::kAvx2 && node.input(0).shape().elements() >= kLeastElements;
}

// Calls body(begin, end) on the call's threads for ranges that cover the elements / columns rows.
// Does nothing when there are no elements.
inline void for_each_rows(const pjrt::ffi::Call& call, int64_t elements, int64_t columns,
                          const std::function<void(int64_t begin, int64_t end)>& body) {
  constexpr int64_t kGrainElements = 16384;
  if (elements == 0) return;
  CallWorkers workers(call);
  for_each_range(workers, elements / columns, std::max<int64_t>(kGrainElements / columns, 1), body);
}

// A kernel that dispatches on the dtype of the call's first argument.
template <void (*kF32)(const pjrt::ffi::Call&), void (*kBf16)(const pjrt::ffi::Call&)>
void by_dtype(const pjrt::ffi::Call& call) {
  call.argument(0).is_bf16() ? kBf16(call) : kF32(call);
}

}  // namespace hum::kernels

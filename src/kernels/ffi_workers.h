// The thread pool of the running XLA program, as Workers. The pool has at least four threads, even
// if HUM_THREADS is lower (measured); kernels use at most HUM_THREADS of them.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "base/threads.h"
#include "kernels/parallel.h"
#include "pjrt/ffi.h"

namespace hum::kernels {

// Must not outlive the call.
class CallWorkers final : public Workers {
 public:
  explicit CallWorkers(const pjrt::ffi::Call& call)
      : call_(call), threads_(std::min(call.pool_threads(), allowed_threads())) {}
  int threads() const override { return threads_; }
  void schedule(std::function<void()> task) override { call_.schedule(std::move(task)); }

 private:
  static int allowed_threads() {
    static const int kThreads = compute_threads();
    return kThreads;
  }

  const pjrt::ffi::Call& call_;
  int threads_;
};

}  // namespace hum::kernels

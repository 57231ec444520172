// A separate thread pool, for tests and benches that run a kernel without XLA.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/parallel.h"

namespace hum::kernels {

class PoolWorkers final : public Workers {
 public:
  explicit PoolWorkers(int threads) {
    for (int i = 1; i < threads; ++i) pool_.emplace_back([this](std::stop_token s) { run(s); });
  }

  int threads() const override { return static_cast<int>(pool_.size()) + 1; }

  void schedule(std::function<void()> task) override {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

 private:
  void run(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [&] { return !tasks_.empty(); })) return;
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::jthread> pool_;  // last: joins before the rest is destroyed
};

}  // namespace hum::kernels

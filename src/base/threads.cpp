#include "base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/env.h"
#include "base/error.h"

namespace hum {
namespace {

constexpr int64_t kMostThreads = 65536;

}  // namespace

int compute_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const int64_t threads = env_int("HUM_THREADS", std::max(1, cores));
  if (threads < 1 || threads > kMostThreads) {
    fail(ExitCode::kUsage, fmt::format("HUM_THREADS: {} is outside 1..{}", threads, kMostThreads),
         "HUM_THREADS=4; without it, hum computes on all cores");
  }
  return static_cast<int>(threads);
}

void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next = 0;
  std::exception_ptr first_error;
  std::mutex mutex;
  auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!first_error) first_error = std::current_exception();
        next = count;
      }
    }
  };
  const auto helpers = std::min<int64_t>(threads, count) - 1;
  {
    std::vector<std::jthread> pool;
    for (int64_t i = 0; i < helpers; ++i) pool.emplace_back(work);
    work();
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace hum

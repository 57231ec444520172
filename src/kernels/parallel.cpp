#include "kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>

namespace hum::kernels {
namespace {

// Lives as long as the slowest helper, which may start after all work is done and the caller has
// returned.
class Chunks {
 public:
  Chunks(int64_t count, const std::function<void(int64_t)>& body) : count_(count), body_(&body) {}

  void work() {
    for (int64_t i = next_++; i < count_; i = next_++) {
      try {
        (*body_)(i);  // the caller waits for every claimed chunk, so the body still exists
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
      if (++done_ == count_) done_.notify_all();
    }
  }

  void wait() {
    constexpr auto kSpin = std::chrono::microseconds(50);
    const auto start = std::chrono::steady_clock::now();
    while (done_ != count_ && std::chrono::steady_clock::now() - start < kSpin) {
      __builtin_ia32_pause();
    }
    for (int64_t done = done_; done != count_; done = done_) done_.wait(done);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const int64_t count_;
  const std::function<void(int64_t)>* body_;
  std::atomic<int64_t> next_ = 0, done_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

void for_each_chunk(Workers& workers, int64_t count, const std::function<void(int64_t)>& body) {
  const int64_t helpers = std::min<int64_t>(workers.threads(), count) - 1;
  if (helpers <= 0) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  const auto chunks = std::make_shared<Chunks>(count, body);
  try {
    for (int64_t i = 0; i < helpers; ++i) {
      workers.schedule([chunks] { chunks->work(); });
    }
  } catch (...) {  // helpers that started refer to `body`; they and this thread do the work
  }
  chunks->work();
  chunks->wait();
}

void for_each_range(Workers& workers, int64_t count, int64_t grain,
                    const std::function<void(int64_t, int64_t)>& body) {
  constexpr int64_t kRangesPerThread = 4;  // so that a thread that joins late still helps
  const int64_t most = workers.threads() > 1 ? workers.threads() * kRangesPerThread : 1;
  const int64_t ranges = std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, most);
  for_each_chunk(workers, ranges, [&](int64_t i) {
    const int64_t begin = count * i / ranges, end = count * (i + 1) / ranges;
    if (begin < end) body(begin, end);
  });
}

AlignedMemory aligned_memory(size_t size_bytes) {
  constexpr size_t kAlignment = 64;
  const size_t whole = (size_bytes / kAlignment + 1) * kAlignment;  // never zero
  AlignedMemory memory(static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole)));
  if (!memory) throw std::bad_alloc();
  return memory;
}

std::span<std::byte> thread_scratch(size_t size_bytes) {
  thread_local AlignedMemory memory;
  thread_local size_t capacity = 0;
  if (size_bytes > capacity) {
    memory.reset();
    capacity = 0;
    memory = aligned_memory(size_bytes);
    capacity = size_bytes;
  }
  return {memory.get(), size_bytes};
}

}  // namespace hum::kernels

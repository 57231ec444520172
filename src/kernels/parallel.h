// Runs a kernel on several cores with threads borrowed from its caller (XLA's own pool), so that
// kernels and XLA's loops together never run more threads than the pool has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>

namespace hum::kernels {

// Threads to borrow.
class Workers {
 public:
  virtual ~Workers() = default;
  // Number of cores that the caller may use, including its own thread.
  virtual int threads() const = 0;
  // Runs the task on another thread, now or much later.
  virtual void schedule(std::function<void()> task) = 0;
};

// The calling thread alone.
class OneThread final : public Workers {
 public:
  int threads() const override { return 1; }
  void schedule(std::function<void()> task) override { task(); }
};

// Runs body(i) once for each i in [0, count), on the calling thread and any borrowed ones. Never
// waits for a thread that has not started: if all others are busy the caller does all the work, so
// any number of kernels may run at once. Rethrows the first exception.
void for_each_chunk(Workers& workers, int64_t count, const std::function<void(int64_t)>& body);

// The same over ranges [begin, end) that cover [0, count), each at least `grain` long if possible.
void for_each_range(Workers& workers, int64_t count, int64_t grain,
                    const std::function<void(int64_t begin, int64_t end)>& body);

// 64-byte aligned; throws std::bad_alloc.
struct FreeAligned {
  void operator()(void* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<std::byte, FreeAligned>;
AlignedMemory aligned_memory(size_t size_bytes);

// Memory for the chunk running on this thread, 64-byte aligned; the next call invalidates it.
std::span<std::byte> thread_scratch(size_t size_bytes);

}  // namespace hum::kernels

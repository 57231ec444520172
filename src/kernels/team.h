// A sequence of parallel loops by threads that are borrowed once: between two loops they spin, so
// the next one starts in under a microsecond, where waking a thread takes 20 to 50. For kernels of
// many short loops; a kernel of one loop uses for_each_chunk (parallel.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kernels/parallel.h"

namespace hum::kernels {

class Team {
 public:
  // Borrows all other threads of `workers`, which must outlive the constructor only.
  explicit Team(Workers& workers);
  // Releases them without waiting for any.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Runs body(i) once for each i in [0, count), on this thread and those that have joined so far;
  // never waits for a thread that has not. Each thread takes neighbouring chunks while its share
  // lasts: two threads that took chunks in turns read memory a tenth slower. Only the
  // thread that made the team may call it. Rethrows the first exception.
  void for_each_chunk(int64_t count, const std::function<void(int64_t)>& body);

 private:
  class Loops;
  std::shared_ptr<Loops> loops_;  // lives as long as the slowest helper
};

}  // namespace hum::kernels

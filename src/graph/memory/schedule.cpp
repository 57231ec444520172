// Peak memory of the tasks, run in the order in which the graph was built. Of the orders that XLA's
// memory scheduler tries, the best ones for training steps come close to this. Greedier orders need
// 5 to 30 % less, but XLA was not observed to find them.
#include <vector>

#include "graph/memory/tasks_impl.h"

namespace hum::graph::memory {
namespace {

class Simulation {
 public:
  explicit Simulation(const Tasks& tasks) : tasks_(tasks), left_(tasks.arrays.size(), 0) {
    for (const Task& task : tasks.tasks) {
      for (const size_t array : task.reads) ++left_[array];
    }
  }

  Peak run() {
    Peak peak;
    std::vector<bool> alive(tasks_.arrays.size(), false);
    int64_t bytes = 0;
    for (const Task& task : tasks_.tasks) {
      int64_t reused = 0, written = 0;
      for (const size_t array : task.writes) written += size(array);
      for (const size_t array : task.reads) {
        if (task.in_place && left_[array] == 1 && size(array) == written) reused = written;
      }
      bytes += written;
      for (const size_t array : task.writes) alive[array] = true;
      if (bytes - reused + task.scratch_bytes > peak.bytes) {
        peak.bytes = bytes - reused + task.scratch_bytes;
        peak.alive.clear();
        for (size_t a = 0; a < alive.size(); ++a) {
          if (alive[a] && size(a) > 0) peak.alive.push_back(a);
        }
      }
      const auto release = [&](size_t array) {
        bytes -= size(array);
        alive[array] = false;
      };
      for (const size_t array : task.reads) {
        if (--left_[array] == 0) release(array);
      }
      for (const size_t array : task.writes) {
        if (left_[array] == 0) release(array);  // never read
      }
    }
    return peak;
  }

 private:
  int64_t size(size_t array) const { return tasks_.arrays[array].bytes; }
  const Tasks& tasks_;
  std::vector<size_t> left_;  // remaining readers of each array
};

}  // namespace

Peak peak_of(const Tasks& tasks) { return Simulation(tasks).run(); }

}  // namespace hum::graph::memory

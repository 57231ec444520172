// Orders of tasks and what they hold at most. XLA's memory scheduler tries a greedy list order and
// depth-first orders, and takes the best (xla/service/hlo_memory_scheduler.cc).
#include <algorithm>

#include "graph/memory/tasks_impl.h"

namespace hum::graph::memory {
namespace {

using Order = std::vector<size_t>;

// Array -> the task that writes it, and the tasks that read it.
struct Links {
  explicit Links(const Tasks& tasks) : writer(tasks.arrays.size()), readers(tasks.arrays.size()) {
    for (size_t t = 0; t < tasks.tasks.size(); ++t) {
      for (const size_t array : tasks.tasks[t].writes) writer[array] = t;
      for (const size_t array : tasks.tasks[t].reads) readers[array].push_back(t);
    }
  }
  std::vector<size_t> writer;
  std::vector<std::vector<size_t>> readers;
};

class Simulation {
 public:
  Simulation(const Tasks& tasks, const Links& links) : tasks_(tasks) {
    for (const auto& readers : links.readers) left_.push_back(readers.size());
  }

  Peak run(const Order& order) {
    Peak peak;
    std::vector<bool> alive(tasks_.arrays.size(), false);
    int64_t bytes = 0;
    for (const size_t t : order) {
      const Task& task = tasks_.tasks[t];
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
        if (left_[array] == 0) release(array);  // nobody reads it
      }
    }
    return peak;
  }

 private:
  int64_t size(size_t array) const { return tasks_.arrays[array].bytes; }
  const Tasks& tasks_;
  std::vector<size_t> left_;
};

// At each point, of the tasks that can run, the one that frees most for what it adds.
Order list_order(const Tasks& tasks, const Links& links) {
  std::vector<size_t> left, waiting(tasks.tasks.size(), 0);
  for (const auto& readers : links.readers) left.push_back(readers.size());
  Order ready, order;
  for (size_t t = 0; t < tasks.tasks.size(); ++t) {
    waiting[t] = tasks.tasks[t].reads.size();
    if (waiting[t] == 0) ready.push_back(t);
  }
  const auto gain = [&](size_t t) {
    int64_t bytes = 0;
    for (const size_t array : tasks.tasks[t].reads) {
      if (left[array] == 1) bytes += tasks.arrays[array].bytes;
    }
    for (const size_t array : tasks.tasks[t].writes) bytes -= tasks.arrays[array].bytes;
    return bytes;
  };
  while (!ready.empty()) {
    size_t best = 0;
    int64_t most = gain(ready[0]);
    for (size_t i = 1; i < ready.size(); ++i) {
      const int64_t bytes = gain(ready[i]);
      if (bytes > most || (bytes == most && ready[i] < ready[best])) {
        most = bytes;
        best = i;
      }
    }
    const size_t t = ready[best];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(best));
    order.push_back(t);
    for (const size_t array : tasks.tasks[t].reads) --left[array];
    for (const size_t array : tasks.tasks[t].writes) {
      for (const size_t reader : links.readers[array]) {
        if (--waiting[reader] == 0) ready.push_back(reader);
      }
    }
  }
  return order;
}

// Operands before their user, those with the larger arrays below them first.
Order depth_first_order(const Tasks& tasks, const Links& links) {
  const size_t count = tasks.tasks.size();
  std::vector<int64_t> below(count, 0);
  for (size_t t = 0; t < count; ++t) {
    for (const size_t array : tasks.tasks[t].writes) below[t] += tasks.arrays[array].bytes;
    for (const size_t array : tasks.tasks[t].reads) {
      below[t] = std::min<int64_t>(below[t] + below[links.writer[array]], int64_t{1} << 60);
    }
  }
  std::vector<bool> seen(count, false);
  Order order;
  std::vector<std::pair<size_t, bool>> stack;
  for (size_t t = 0; t < count; ++t) stack.emplace_back(t, false);
  while (!stack.empty()) {
    const auto [t, done] = stack.back();
    stack.pop_back();
    if (done) order.push_back(t);
    if (done || seen[t]) continue;
    seen[t] = true;
    stack.emplace_back(t, true);
    Order operands;
    for (const size_t array : tasks.tasks[t].reads) operands.push_back(links.writer[array]);
    std::ranges::stable_sort(operands, std::less<>(), [&](size_t o) { return below[o]; });
    for (const size_t operand : operands) {
      if (!seen[operand]) stack.emplace_back(operand, false);
    }
  }
  return order;
}

}  // namespace

Peak least_peak(const Tasks& tasks) {
  const Links links(tasks);
  Order given(tasks.tasks.size());
  for (size_t t = 0; t < given.size(); ++t) given[t] = t;
  Peak best = Simulation(tasks, links).run(given);
  for (const Order& order : {list_order(tasks, links), depth_first_order(tasks, links)}) {
    Peak peak = Simulation(tasks, links).run(order);
    if (peak.bytes < best.bytes) best = std::move(peak);
  }
  return best;
}

}  // namespace hum::graph::memory

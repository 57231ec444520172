// A function as the compiler runs it: tasks (fused loops, products, kernels, whole loops) that read
// and write arrays.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/function.h"

namespace hum::graph::memory {

struct Array {
  int64_t bytes = 0;
  const Node* made_by = nullptr;
  int index = 0;
};

struct Task {
  std::vector<size_t> reads, writes;  // arrays, without duplicates
  // Alive only while the task runs (a loop's body).
  int64_t scratch_bytes = 0;
  // Element-wise: may write into an array of the same size if it is that array's last reader.
  bool in_place = false;
};

struct Tasks {
  std::vector<Array> arrays;
  std::vector<Task> tasks;  // in topological order
};

// The function's results as the compiler sees them: calls are inlined and duplicate computations
// merged.
Values as_compiled(const Function& function, const std::function<bool(const Node&)>& use_kernel);

// The value whose array stores this value: itself, or the value it is a view of.
Value array_of(Value value);

// `kept`: results with their own buffers (outputs, donated inputs). They are written but counted as
// size 0. Constants and free parameters are not arrays.
Tasks tasks_of(std::span<const Value> roots, std::span<const Value> kept);

struct Peak {
  int64_t bytes = 0;
  std::vector<size_t> alive;  // arrays
};
// Peak memory of the tasks, run in order.
Peak peak_of(const Tasks& tasks);

}  // namespace hum::graph::memory

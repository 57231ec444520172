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
  std::vector<size_t> reads, writes;  // arrays; each once
  // Alive only while it runs (a loop's body).
  int64_t scratch_bytes = 0;
  // Element by element: may write into an array of the same size that it is the last to read.
  bool in_place = false;
};

struct Tasks {
  std::vector<Array> arrays;
  std::vector<Task> tasks;  // a task comes after those whose arrays it reads
};

// The function's results as the compiler sees them: what is called stands in its place, and what is
// computed twice is computed once.
Values as_compiled(const Function& function, const std::function<bool(const Node&)>& use_kernel);

// The value in whose array a value lies: the same, or what it is another view of.
Value array_of(Value value);

// `kept`: results that lie in buffers of their own (outputs, donated inputs): written, but of no
// size. Constants and free parameters are no arrays.
Tasks tasks_of(std::span<const Value> roots, std::span<const Value> kept);

struct Peak {
  int64_t bytes = 0;
  std::vector<size_t> alive;  // arrays
};
// Of the tasks run in their order.
Peak peak_of(const Tasks& tasks);

}  // namespace hum::graph::memory

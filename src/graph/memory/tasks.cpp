// Decides which values become arrays, by the memory classes of their ops. As in XLA's CPU fusion, a
// loop recomputes cheap operands for each reader. An expensive operand with two readers is written
// to an array, as is every input of an op that is not a loop. Reductions count as such ops: long
// ones run in windows, which are not fused with their inputs.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "graph/memory/tasks_impl.h"
#include "graph/op.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/inline_calls.h"

namespace hum::graph::memory {
namespace {

MemoryClass class_of(const Node& node) { return node.op().kind.memory; }

// Whether a loop fuses it: it is computed where it is read, unless a reader needs an array.
bool is_fused(MemoryClass memory) {
  return memory == MemoryClass::kCheap || memory == MemoryClass::kExpensive;
}

using Key = std::pair<const Node*, int>;
Key key_of(const Value& value) { return {&value.node(), value.index()}; }

// Peak memory of one loop step, besides the step's inputs and outputs.
int64_t body_bytes(const Node& node) {
  int64_t most = 0;
  for (const Region& region : node.regions()) {
    most = std::max(most, peak_of(tasks_of(region.results, region.results)).bytes);
  }
  return most;
}

class Builder {
 public:
  Builder(std::span<const Value> roots, std::span<const Value> kept)
      : order_(topological_order(roots)) {
    for (const Value& value : kept) kept_.insert(key_of(array_of(value)));
    for (const Node* node : order_) {
      for (const Value& input : node->inputs()) count_use(array_of(input), class_of(*node));
    }
    for (const Value& root : roots) count_use(array_of(root), MemoryClass::kOpaque);
  }

  Tasks build() && {
    for (const Node* node : order_) {
      const MemoryClass memory = class_of(*node);
      if (memory == MemoryClass::kAlias || memory == MemoryClass::kGiven) continue;
      if (is_written(*node)) {
        add_task(*node);
      } else {
        reads_[node] = reads_of(*node);
      }
    }
    return std::move(tasks_);
  }

 private:
  void count_use(const Value& value, MemoryClass user) {
    if (user == MemoryClass::kAlias) return;  // counted through the alias
    auto& uses = uses_[&value.node()];
    ++uses.count;
    uses.as_array |= !is_fused(user);
  }

  bool is_written(const Node& node) {
    const auto& uses = uses_[&node];
    if (!is_fused(class_of(node)) || uses.as_array) return true;
    return class_of(node) == MemoryClass::kExpensive && uses.count > 1;
  }

  // The arrays read to compute the node, including those read by values computed on the way.
  std::set<size_t> reads_of(const Node& node) {
    std::set<size_t> reads;
    for (const Value& input : node.inputs()) {
      const Value source = array_of(input);
      if (const auto array = arrays_.find(key_of(source)); array != arrays_.end()) {
        reads.insert(array->second);
      } else if (const auto through = reads_.find(&source.node()); through != reads_.end()) {
        reads.insert(through->second.begin(), through->second.end());
      }
    }
    return reads;
  }

  void add_task(const Node& node) {
    const auto reads = reads_of(node);
    Task task{{reads.begin(), reads.end()}, {}, 0, is_fused(class_of(node))};
    if (class_of(node) == MemoryClass::kLoop) task.scratch_bytes = body_bytes(node);
    for (int i = 0; i < node.output_count(); ++i) {
      const Key key{&node, i};
      arrays_[key] = tasks_.arrays.size();
      task.writes.push_back(tasks_.arrays.size());
      const int64_t bytes = node.shapes()[static_cast<size_t>(i)].bytes();
      tasks_.arrays.push_back({kept_.contains(key) ? 0 : bytes, &node, i});
    }
    tasks_.tasks.push_back(std::move(task));
  }

  struct Uses {
    int count = 0;
    bool as_array = false;
  };
  std::vector<const Node*> order_;
  std::set<Key> kept_;
  std::unordered_map<const Node*, Uses> uses_;
  std::map<Key, size_t> arrays_;
  std::unordered_map<const Node*, std::set<size_t>> reads_;
  Tasks tasks_;
};

}  // namespace

// Inlined bodies duplicate each other: the compiler finds computations that a backward pass repeats
// in the forward pass, and keeps their results.
Values as_compiled(const Function& function, const std::function<bool(const Node&)>& use_kernel) {
  Function inlined = function;
  inlined.results = inline_calls(function.results, use_kernel);
  return merge_common_subexpressions(inlined).results;
}

Value array_of(Value value) {
  while (class_of(value.node()) == MemoryClass::kAlias) {
    const Node& node = value.node();
    value = node.input(node.output_count() == 1 ? 0 : value.index());
  }
  return value;
}

Tasks tasks_of(std::span<const Value> roots, std::span<const Value> kept) {
  return Builder(roots, kept).build();
}

}  // namespace hum::graph::memory

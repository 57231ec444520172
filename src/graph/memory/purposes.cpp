#include "graph/memory/purposes.h"

#include <algorithm>
#include <set>
#include <span>

#include "base/error.h"
#include "graph/memory/tasks_impl.h"
#include "graph/op.h"

namespace hum::graph {
namespace {

std::set<const Node*> nodes_before(const Value& value) {
  const auto order = topological_order(Values{value});
  return {order.begin(), order.end()};
}

// The written arrays that a value consists of: its own, or those it is computed from at each read.
void add_written(const Value& value, const std::set<const Node*>& written,
                 std::set<const Node*>& found) {
  const Node& node = memory::array_of(value).node();
  if (written.contains(&node)) {
    found.insert(&node);
    return;
  }
  for (const Value& input : node.inputs()) add_written(input, written, found);
}

}  // namespace

MemoryPurposes memory_purposes(const Function& function, size_t results, size_t loss,
                               const std::function<bool(const Node&)>& use_kernel) {
  HUM_CHECK(loss < results && results <= function.results.size());
  const Values all = memory::as_compiled(function, use_kernel);
  const std::span roots = std::span(all).first(results);
  const memory::Tasks tasks = memory::tasks_of(roots, roots);
  const memory::Peak peak = memory::peak_of(tasks);

  std::set<const Node*> written, gradients;
  for (const auto& array : tasks.arrays) written.insert(array.made_by);
  for (const Value& gradient : std::span(all).subspan(results)) {
    add_written(gradient, written, gradients);
  }
  const auto forward = nodes_before(roots[loss]);
  MemoryPurposes purposes;
  for (const size_t at : peak.alive) {
    const memory::Array& array = tasks.arrays[at];
    const bool is_collective = array.made_by->op().kind.memory == MemoryClass::kCollective;
    int64_t& purpose = is_collective                       ? purposes.collectives
                       : forward.contains(array.made_by)   ? purposes.activations
                       : gradients.contains(array.made_by) ? purposes.gradients
                                                           : purposes.temporaries;
    purpose += array.bytes;
  }
  // A loop's internal arrays are not counted here; an array written in place of another is already
  // counted with it.
  purposes.temporaries += peak.bytes - purposes.total();
  purposes.activations += std::min<int64_t>(purposes.temporaries, 0);
  purposes.temporaries = std::max<int64_t>(purposes.temporaries, 0);
  return purposes;
}

}  // namespace hum::graph

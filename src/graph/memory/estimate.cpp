#include "graph/memory/estimate.h"

#include <algorithm>

#include "graph/memory/tasks_impl.h"
#include "graph/op.h"
#include "graph/ops/structure.h"

namespace hum::graph {
namespace {

constexpr size_t kNamed = 6;

}  // namespace

MemoryEstimate estimate_memory(const Function& function,
                               const std::function<bool(const Node&)>& use_kernel) {
  MemoryEstimate estimate;
  for (const Value& p : function.parameters) {
    estimate.argument_bytes += p.shape().bytes();
    estimate.largest.push_back({p.shape().bytes(), p.shape(), "input " + parameter_name(p.node())});
  }
  for (const Value& result : function.results) estimate.output_bytes += result.shape().bytes();
  for (const auto& donation : function.donations) {
    estimate.alias_bytes +=
        function.parameters[static_cast<size_t>(donation.parameter)].shape().bytes();
  }
  const Values roots = memory::as_compiled(function, use_kernel);
  const memory::Tasks tasks = memory::tasks_of(roots, roots);
  const memory::Peak peak = memory::peak_of(tasks);
  estimate.temporary_bytes = peak.bytes;
  for (const size_t at : peak.alive) {
    const memory::Array& array = tasks.arrays[at];
    estimate.largest.push_back(
        {array.bytes, array.made_by->shapes()[static_cast<size_t>(array.index)],
         fmt::format("{} made at {}", array.made_by->op().name, array.made_by->where_string())});
  }
  std::ranges::stable_sort(estimate.largest, std::greater<>(), &LiveArray::bytes);
  if (estimate.largest.size() > kNamed) estimate.largest.resize(kNamed);
  return estimate;
}

}  // namespace hum::graph

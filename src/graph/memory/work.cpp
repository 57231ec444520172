#include "graph/memory/work.h"

#include <algorithm>
#include <map>

#include "graph/memory/tasks_impl.h"
#include "graph/op.h"
#include "graph/ops/table.h"

namespace hum::graph {
namespace {

using FlopsByType = std::map<DType, double>;

void add_products(std::span<const Value> roots, double times, FlopsByType& flops) {
  for (const Node* node : topological_order(roots)) {
    if (node->op().kind.memory == MemoryClass::kProduct)
      flops[node->input(0).dtype()] += times * node->op().cost(*node).flops;
    for (const Region& body : node->regions())
      add_products(body.results, times * region_rounds(*node), flops);
  }
}

double bytes_moved(std::span<const Value> roots) {
  const memory::Tasks tasks = memory::tasks_of(roots, {});
  double bytes = 0;
  for (const memory::Task& task : tasks.tasks) {
    for (const auto* arrays : {&task.reads, &task.writes}) {
      for (const size_t at : *arrays) bytes += static_cast<double>(tasks.arrays[at].bytes);
    }
    const Node& made_by = *tasks.arrays[task.writes.front()].made_by;
    if (made_by.op().kind.memory != MemoryClass::kLoop) continue;
    for (const Region& body : made_by.regions())
      bytes += region_rounds(made_by) * bytes_moved(body.results);
  }
  return bytes;
}

}  // namespace

double region_rounds(const Node& node) {
  return &node.op() == &kScanOp ? static_cast<double>(node.attributes().get<int64_t>("steps")) : 1;
}

Work count_work(const Function& function, const std::function<bool(const Node&)>& use_kernel) {
  Work work;
  FlopsByType flops;
  add_products(function.results, 1, flops);
  for (const auto& [dtype, count] : flops) work.product_flops += count;
  if (!flops.empty()) {
    const auto count = [](const auto& entry) { return entry.second; };
    work.product_dtype = std::ranges::max_element(flops, {}, count)->first;
  }
  for (const Value& p : function.parameters) work.bytes += static_cast<double>(p.shape().bytes());
  work.bytes += bytes_moved(memory::as_compiled(function, use_kernel));
  return work;
}

}  // namespace hum::graph

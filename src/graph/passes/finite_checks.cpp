#include "graph/passes/finite_checks.h"

#include <algorithm>
#include <map>

#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/structure.h"
#include "graph/ops/table.h"
#include "graph/passes/inline_calls.h"

namespace hum::graph {
namespace {

std::string described(const Value& value) {
  const Node& node = value.node();
  if (is_parameter(node)) return fmt::format("input {} ({})", parameter_name(node), value.shape());
  return fmt::format("{} made at {} ({})", node.op().name, node.where_string(), value.shape());
}

// A partial sum is checked after it is reduced.
bool holds_partial_sum(const Value& value) {
  return std::ranges::count(value.placement().axes, kPartial) > 0;
}

}  // namespace

FiniteChecks add_finite_checks(Function& function,
                               const std::function<bool(const Node&)>& use_kernel) {
  FiniteChecks checks;
  function.results = inline_calls(function.results, use_kernel);
  Values flags;
  std::map<std::pair<const Node*, int>, size_t> numbers;
  for (const Node* node : topological_order(function.results)) {
    if (&node->op() == &kConstantOp) continue;
    for (int i = 0; i < node->output_count(); ++i) {
      const Value value = node->output(i);
      if (!is_float(value.dtype()) || holds_partial_sum(value)) continue;
      numbers[{node, i}] = flags.size();
      Dims all;
      for (int64_t dim = 0; dim < value.rank(); ++dim) all.push_back(dim);
      flags.push_back(reshape(reduce_and(is_finite(value), all), {1}));
      checks.flags.push_back(described(value));
    }
  }
  for (const Value& result : function.results) {
    const auto number = numbers.find({&result.node(), result.index()});
    if (number != numbers.end()) checks.results.push_back(number->second);
  }
  if (!flags.empty()) function.results.push_back(concatenate(flags, 0));
  return checks;
}

}  // namespace hum::graph

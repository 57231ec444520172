// Blocks that are computed again in the backward pass instead of being kept.
#include <algorithm>
#include <unordered_set>

#include "graph/autodiff/gradients.h"
#include "graph/op.h"
#include "graph/ops/convolution_defs.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/dot_defs.h"
#include "graph/ops/structure.h"
#include "graph/passes/rewrite.h"

namespace hum::graph {
namespace {

void append(Values& to, std::span<const Value> from) {
  to.insert(to.end(), from.begin(), from.end());
}

bool is_product(const Node& node) {
  return &node.op() == &kDotGeneralOp || &node.op() == &kConvolutionOp;
}

// Whether selective recomputation keeps the node's results: products are dear to compute and, but
// for attention's scores (which have batch dims), no larger than the block's width.
bool is_worth_keeping(const Node& node) {
  if (&node.op() == &kDotGeneralOp) return node.attributes().get<Dims>("lhs_batch").empty();
  if (!is_custom_call(node)) return is_product(node);
  const auto fallback = topological_order(node.regions()[0].results);
  return std::ranges::any_of(fallback, [](const Node* inner) { return is_product(*inner); });
}

Values kept_by(RecomputePolicy policy, const Region& region) {
  Values kept;
  if (policy != RecomputePolicy::kSelective) return kept;
  for (const Node* node : topological_order(region.results)) {
    if (is_worth_keeping(*node)) append(kept, outputs_of(*node));
  }
  return kept;
}

Values placeholders(std::span<const Value> like) {
  Values result;
  for (const Value& value : like) {
    result.push_back(value ? parameter("again", value.shape(), value.placement()) : Value());
  }
  return result;
}

// The block's backward pass as a graph over placeholders: saved inputs, kept values, cotangents.
struct Backward {
  Values parameters;
  Values gradients;
};

Backward trace_backward(const Region& block, size_t own, std::span<const Value> saved,
                        std::span<const Value> kept, std::span<const Value> cotangents) {
  const Values inputs = placeholders(saved), keeps = placeholders(kept),
               flowing = placeholders(cotangents);
  const Values again = inline_region(block, inputs);
  Values gradients = pullback(std::span(again).first(own), flowing, inputs);
  std::vector<std::pair<Value, Value>> known;
  for (size_t i = 0; i < keeps.size(); ++i) known.emplace_back(again[own + i], keeps[i]);
  Backward backward{inputs, replace_values(gradients, known)};
  append(backward.parameters, keeps);
  append(backward.parameters, flowing);
  return backward;
}

// The backward pass on `arguments`. A barrier ties those that it reads together, so that
// recomputing cannot start before the cotangents are there, or be merged away.
Values on_arguments(const Backward& backward, std::span<const Value> arguments) {
  const auto order = topological_order(backward.gradients);
  const std::unordered_set<const Node*> read(order.begin(), order.end());
  Values tied, results, found;
  Region region;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i] || !read.contains(&backward.parameters[i].node())) continue;
    tied.push_back(arguments[i]);
    region.parameters.push_back(backward.parameters[i]);
  }
  for (const Value& gradient : backward.gradients) {
    if (gradient) region.results.push_back(gradient);
  }
  if (!tied.empty()) found = inline_region(region, optimization_barrier(tied));
  size_t next = 0;
  for (const Value& gradient : backward.gradients) {
    results.push_back(gradient ? found[next++] : Value());
  }
  return results;
}

}  // namespace

Values checkpoint(RecomputePolicy policy, std::span<const Value> inputs,
                  const std::function<Values(std::span<const Value>)>& f,
                  std::source_location where) {
  if (policy == RecomputePolicy::kNone) return f(inputs);
  auto [region, captures] = trace_region(inputs, f);
  Values arguments(inputs.begin(), inputs.end());
  append(arguments, captures);
  const size_t own = region.results.size();
  append(region.results, kept_by(policy, region));
  CustomVjp vjp = [region, own](std::span<const Value> saved, std::span<const Value> outputs,
                                std::span<const Value> cotangents) {
    const auto kept = outputs.subspan(own);
    Values values(saved.begin(), saved.end());
    append(values, kept);
    append(values, cotangents.first(own));
    return on_arguments(trace_backward(region, own, saved, kept, cotangents.first(own)), values);
  };
  Values results = call("checkpoint", arguments, region, std::move(vjp), where);
  results.resize(own);
  return results;
}

}  // namespace hum::graph

// Checkpointed blocks: recomputed in the backward pass instead of stored.
#include <algorithm>
#include <unordered_set>

#include "graph/autodiff/gradients.h"
#include "graph/op.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/structure.h"
#include "graph/ops/table.h"
#include "graph/passes/rewrite.h"

namespace hum::graph {
namespace {

void append(Values& to, std::span<const Value> from) {
  to.insert(to.end(), from.begin(), from.end());
}

bool is_product(const Node& node) { return node.op().kind.memory == MemoryClass::kProduct; }

// Whether selective recomputation keeps the node's results: products are expensive to compute and,
// except for attention scores (which have batch dims), no larger than the block's width.
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

// The block's results on `inputs`. XLA on CPU drops barriers; it could then merge a kernel that
// reads only kept values with the forward pass's, which would keep the kernel's results after all.
Values compute_again(const Region& block, std::span<const Value> inputs) {
  return rewrite(inline_region(block, inputs),
                 [](const Node& node, const Values& now) -> std::optional<Values> {
                   if (!is_custom_call(node)) return std::nullopt;
                   return repeat_custom_call(node, now);
                 });
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
  const Values again = compute_again(block, inputs);
  Values gradients = pullback(std::span(again).first(own), flowing, inputs);
  std::vector<std::pair<Value, Value>> known;
  for (size_t i = 0; i < keeps.size(); ++i) known.emplace_back(again[own + i], keeps[i]);
  Backward backward{inputs, replace_values(gradients, known)};
  append(backward.parameters, keeps);
  append(backward.parameters, flowing);
  return backward;
}

// The bits of the first element of each value that is identical on all devices, or-ed; empty if
// there is none.
Value some_bits(std::span<const Value> values) {
  Value bits;
  for (const Value& value : values) {
    if (!value || !is_float(value.dtype()) || !value.placement().is_replicated()) continue;
    const Dims first(static_cast<size_t>(value.rank()), 0), one(first.size(), 1);
    const Value element = convert(reshape(slice(value, first, one), {}), DType::kF32);
    const Value more = bitcast_convert(element, DType::kU32);
    bits = bits ? bits | more : more;
  }
  return bits;
}

// Returns `values` unchanged, but not available before all of `first` are. XLA drops barriers
// before it orders work, and on CPU would then recompute all blocks at once or postpone all weight
// gradients. A select between the value and zero, with a condition that is always true but opaque
// to the compiler, survives.
void delay(std::span<Value> values, std::span<const Value> first) {
  const Value bits = some_bits(first);
  if (!bits) return;
  const Value holds = not_equal(bits | 1, 0);
  for (Value& value : values) {
    if (value && is_float(value.dtype())) value = select(holds, value, 0);
  }
}

// Positions of the block's arguments: own inputs, captures, kept values, cotangents.
struct Layout {
  size_t inputs, cotangents;
};

// The backward pass on `arguments`. The block is recomputed once its cotangents are available (a
// barrier prevents merging with the forward pass), and its inputs' cotangents are released when its
// captures' gradients are done: only one block's intermediates are alive at a time.
Values on_arguments(const Backward& backward, Values arguments, const Layout& layout) {
  const auto order = topological_order(backward.gradients);
  const std::unordered_set<const Node*> read(order.begin(), order.end());
  Values tied;
  std::vector<size_t> places;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i] || !read.contains(&backward.parameters[i].node())) continue;
    tied.push_back(arguments[i]);
    places.push_back(i);
  }
  if (tied.empty()) return backward.gradients;
  tied = optimization_barrier(tied);
  for (size_t i = 0; i < places.size(); ++i) arguments[places[i]] = tied[i];
  const std::span<Value> all(arguments);
  delay(all.first(layout.inputs), all.last(layout.cotangents));
  std::vector<std::pair<Value, Value>> known;
  for (const size_t i : places) known.emplace_back(backward.parameters[i], arguments[i]);
  Values gradients = replace_values(backward.gradients, known);
  const std::span<Value> outgoing(gradients);
  delay(outgoing.first(layout.inputs), outgoing.subspan(layout.inputs));
  return gradients;
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
  CustomVjp vjp = [region, own, own_inputs = inputs.size()](std::span<const Value> saved,
                                                            std::span<const Value> outputs,
                                                            std::span<const Value> cotangents) {
    const auto kept = outputs.subspan(own);
    Values values(saved.begin(), saved.end());
    append(values, kept);
    append(values, cotangents.first(own));
    return on_arguments(trace_backward(region, own, saved, kept, cotangents.first(own)), values,
                        {own_inputs, own});
  };
  Values results = call("checkpoint", arguments, region, std::move(vjp), where);
  results.resize(own);
  return results;
}

}  // namespace hum::graph

#include "graph/passes/algebraic.h"

#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/passes/rewrite.h"

namespace hum::graph {
namespace {

// The inner node's input, if the node is the inverse of the inner one.
Value undone(const Node& node, const Values& in) {
  const Node& inner = in[0].node();
  const bool same =
      &inner.op() == &node.op() && inner.attributes().items() == node.attributes().items();
  return same ? inner.input(0) : Value();
}

// Simplifies by the properties in the op's row, for inputs that match.
Value by_kind(const Node& node, const Values& in) {
  const OpKind& kind = node.op().kind;
  if (kind.involution) return undone(node, in);
  if (!kind.elementwise || in.size() != 2) return {};
  if (kind.idempotent && in[0] == in[1]) return in[0];
  if (kind.identity == Identity::kNone) return {};
  const double number = identity_number(kind.identity, in[0].dtype());
  if (is_all(in[1], number)) return in[0];
  return kind.commutative && is_all(in[0], number) ? in[1] : Value();
}

Value simplified(const Node& node, const Values& in) {
  if (const Value value = by_kind(node, in)) return value;
  const auto simplify = node.op().kind.simplify;
  return simplify != nullptr ? simplify(node, in) : Value();
}

Values simplified(const Values& roots) {
  return rewrite(roots, [](const Node& node, const Values& inputs) -> std::optional<Values> {
    if (!node.regions().empty()) {
      std::vector<Region> regions;
      for (const Region& region : node.regions()) {
        regions.push_back({region.parameters, simplified(region.results)});
      }
      return outputs_of(*clone_with(node, inputs, std::move(regions)));
    }
    const Value value = simplified(node, inputs);
    // A value with another placement is a different value.
    if (!value || value.placement() != node.placements()[0]) return {};
    return Values{value};
  });
}

}  // namespace

Function simplify_algebra(const Function& function) {
  Function result = function;
  result.results = simplified(function.results);
  return result;
}

}  // namespace hum::graph

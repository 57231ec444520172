#include "graph/passes/algebraic.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/bf16.h"
#include "graph/op.h"
#include "graph/ops/collectives_defs.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/elementwise_defs.h"
#include "graph/ops/reduction_defs.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/shape_ops_defs.h"
#include "graph/ops/structure_defs.h"
#include "graph/passes/rewrite.h"

namespace hum::graph {
namespace {

const Dims& dims_attribute(const Node& node, std::string_view name) {
  return node.attributes().get<Dims>(name);
}

double number_of(const std::byte* bytes, DType dtype) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<size_t>(size_bytes(dtype)));
  switch (dtype) {
    case DType::kF32:
      return static_cast<double>(std::bit_cast<float>(bits));
    case DType::kBF16:
      return static_cast<double>(from_bf16(static_cast<uint16_t>(bits)));
    case DType::kI32:
      return static_cast<int32_t>(bits);
    default:
      return bits;
  }
}

// Whether every element of the value is `number`, by construction.
bool is_all(const Value& value, double number) {
  const Node* node = &value.node();
  while (&node->op() == &kBroadcastInDimOp || &node->op() == &kReshapeOp) {
    node = &node->input(0).node();
  }
  if (&node->op() != &kConstantOp) return false;
  const auto& bytes = *node->attributes().get<Bytes>("value");
  const auto width = static_cast<size_t>(size_bytes(value.dtype()));
  for (size_t at = 0; at < bytes.size(); at += width) {
    if (number_of(bytes.data() + at, value.dtype()) != number) return false;
  }
  return true;
}

// A rule gives the value that a node's only result is, or an empty one.
Value add(const Node&, const Values& in) {
  if (is_all(in[1], 0)) return in[0];
  return is_all(in[0], 0) ? in[1] : Value();
}
Value subtract(const Node&, const Values& in) { return is_all(in[1], 0) ? in[0] : Value(); }
Value multiply(const Node&, const Values& in) {
  if (is_all(in[1], 1)) return in[0];
  return is_all(in[0], 1) ? in[1] : Value();
}
Value divide(const Node&, const Values& in) { return is_all(in[1], 1) ? in[0] : Value(); }
Value of_equals(const Node&, const Values& in) { return in[0] == in[1] ? in[0] : Value(); }
Value select(const Node&, const Values& in) {
  if (in[1] == in[2] || is_all(in[0], 1)) return in[1];
  return is_all(in[0], 0) ? in[2] : Value();
}
// Applied twice, it is nothing.
Value undone(const Node& node, const Values& in) {
  const Node& inner = in[0].node();
  return &inner.op() == &node.op() ? inner.input(0) : Value();
}
Value the_input(const Node&, const Values& in) { return in[0]; }

// There and back through a type that holds every value of the first.
Value convert(const Node& node, const Values& in) {
  const Node& inner = in[0].node();
  if (&inner.op() != &kConvertOp) return {};
  const Value& x = inner.input(0);
  const bool exact = x.dtype() == DType::kBF16 && in[0].dtype() == DType::kF32;
  return exact && node.shapes()[0].dtype == x.dtype() ? x : Value();
}

Value reshape(const Node& node, const Values& in) {
  const Dims& dims = node.shapes()[0].dims;
  const Node& inner = in[0].node();
  const Value& from = &inner.op() == &kReshapeOp ? inner.input(0) : in[0];
  if (from.dims() == dims) return from;
  return from == in[0] ? Value() : graph::reshape(from, dims, node.where());
}

Value transpose(const Node& node, const Values& in) {
  Dims permutation = dims_attribute(node, "permutation");
  Value from = in[0];
  if (const Node& inner = from.node(); &inner.op() == &kTransposeOp) {
    const Dims& first = dims_attribute(inner, "permutation");
    for (int64_t& dim : permutation) dim = first[static_cast<size_t>(dim)];
    from = inner.input(0);
  }
  if (std::ranges::is_sorted(permutation)) return from;
  return from == in[0] ? Value() : graph::transpose(from, permutation, node.where());
}

Value broadcast_in_dim(const Node& node, const Values& in) {
  const Dims& dims = node.shapes()[0].dims;
  if (in[0].dims() == dims) return in[0];
  const Node& inner = in[0].node();
  if (&inner.op() != &kBroadcastInDimOp) return {};
  Dims map = dims_attribute(inner, "dims_map");
  for (int64_t& dim : map) dim = dims_attribute(node, "dims_map")[static_cast<size_t>(dim)];
  return graph::broadcast_in_dim(inner.input(0), dims, map, node.where());
}

Value slice(const Node& node, const Values& in) {
  return node.shapes()[0] == in[0].shape() ? in[0] : Value();
}

Value pad(const Node& node, const Values& in) {
  const auto is_nothing = [&](std::string_view name) {
    return std::ranges::all_of(dims_attribute(node, name), [](int64_t n) { return n == 0; });
  };
  return is_nothing("low") && is_nothing("high") && is_nothing("interior") ? in[0] : Value();
}

Value concatenate(const Node&, const Values& in) { return in.size() == 1 ? in[0] : Value(); }

Value reduce(const Node& node, const Values& in) {
  return dims_attribute(node, "dims").empty() ? in[0] : Value();
}

Value place_as(const Node& node, const Values& in) {
  return in[0].placement() == node.placements()[0] ? in[0] : Value();
}

struct Rule {
  const OpDef* op;
  Value (*simplified)(const Node& node, const Values& inputs);
};
constexpr Rule kRules[] = {
    {&kAddOp, add},
    {&kSubtractOp, subtract},
    {&kMultiplyOp, multiply},
    {&kDivideOp, divide},
    {&kMaximumOp, of_equals},
    {&kMinimumOp, of_equals},
    {&kAndOp, of_equals},
    {&kOrOp, of_equals},
    {&kSelectOp, select},
    {&kNegateOp, undone},
    {&kNotOp, undone},
    {&kReverseOp,
     [](const Node& node, const Values& in) -> Value {
       const Node& inner = in[0].node();
       const bool same = &inner.op() == &kReverseOp &&
                         dims_attribute(inner, "dims") == dims_attribute(node, "dims");
       return same ? inner.input(0) : Value();
     }},
    {&kStopGradientOp, the_input},
    {&kPlaceAsOp, place_as},
    {&kConvertOp, convert},
    {&kReshapeOp, reshape},
    {&kTransposeOp, transpose},
    {&kBroadcastInDimOp, broadcast_in_dim},
    {&kSliceOp, slice},
    {&kPadOp, pad},
    {&kConcatenateOp, concatenate},
    {&kReduceSumOp, reduce},
    {&kReduceMaxOp, reduce},
    {&kReduceMinOp, reduce},
    {&kReduceProdOp, reduce},
};

Values simplified(const Values& roots) {
  return rewrite(roots, [](const Node& node, const Values& inputs) -> std::optional<Values> {
    if (!node.regions().empty()) {
      std::vector<Region> regions;
      for (const Region& region : node.regions()) {
        regions.push_back({region.parameters, simplified(region.results)});
      }
      return outputs_of(*clone_with(node, inputs, std::move(regions)));
    }
    const auto rule = std::ranges::find(kRules, &node.op(), &Rule::op);
    if (rule == std::end(kRules)) return {};
    const Value value = rule->simplified(node, inputs);
    // A value that lies elsewhere on the mesh is another one.
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

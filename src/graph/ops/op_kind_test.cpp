// What rows claim of their ops (OpKind in graph/op.h) against what the plugin computes, on the
// nodes that the op table's cases hold. A false claim fails, and so does a property that no row
// claims.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "base/rng.h"
#include "graph/op.h"
#include "graph/ops/op_test.h"
#include "runtime/testing.h"

namespace hum::graph::op_test {
namespace {

using Claims = std::set<std::string>;

const Identity kIdentities[] = {Identity::kZero, Identity::kOne, Identity::kAllBits,
                                Identity::kLowest, Identity::kHighest};

std::string identity_claim(Identity identity) {
  const char* const names[] = {"none", "zero", "one", "all bits", "lowest", "highest"};
  return std::string("identity ") + names[static_cast<size_t>(identity)];
}

Claims claims_of(const OpDef& op) {
  const OpKind& kind = op.kind;
  Claims claims;
  if (kind.elementwise) claims.insert("elementwise");
  if (kind.commutative) claims.insert("commutative");
  if (kind.idempotent) claims.insert("idempotent");
  if (kind.involution) claims.insert("involution");
  if (kind.identity != Identity::kNone) claims.insert(identity_claim(kind.identity));
  return claims;
}

// Random numbers of the type, and among them those at which properties break.
Array numbers(const Shape& shape, Rng& rng) {
  const bool real = is_float(shape.dtype);
  std::vector<double> special = {0, 1, identity_number(Identity::kLowest, shape.dtype),
                                 identity_number(Identity::kHighest, shape.dtype)};
  if (real) special.insert(special.end(), {-1, std::numeric_limits<double>::quiet_NaN()});
  const double low = std::max(special[2], -1e5), high = std::min(special[3], 1e5);
  return make_array(shape.dims, [&](const Dims&) -> double {
    if (rng.chance(0.2))
      return special[static_cast<size_t>(rng.integer(0, std::ssize(special) - 1))];
    if (real) return static_cast<float>(rng.uniform(-4, 4));
    return static_cast<double>(rng.integer(static_cast<int64_t>(low), static_cast<int64_t>(high)));
  });
}

bool are_near(const Array& a, const Array& b) {
  if (a.dims != b.dims) return false;
  for (size_t i = 0; i < a.data.size(); ++i) {
    const double x = a.data[i], y = b.data[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const bool near = std::isfinite(x) && std::abs(x - y) <= 1e-5 * std::max(1.0, std::abs(x));
    if (!near) return false;
  }
  return true;
}

// Runs of many ops in one module: results are there once it has run.
class Runs {
 public:
  Value input(const Array& array, DType dtype) {
    parameters_.push_back(parameter("x", {dtype, array.dims}));
    inputs_.push_back(to_tensor(array, dtype));
    return parameters_.back();
  }
  size_t result(const Value& value) {
    results_.push_back(value);
    return results_.size() - 1;
  }
  void run() {
    for (const auto& tensor : runtime::evaluate(results_, parameters_, inputs_)) {
      arrays_.push_back(to_array(tensor));
    }
  }
  const Array& at(size_t result) const { return arrays_[result]; }

 private:
  Values parameters_, results_;
  std::vector<runtime::HostTensor> inputs_;
  Arrays arrays_;
};

// A property, and two results that are equal on a node that has it.
struct Equation {
  const OpDef* op;
  std::string property;
  size_t left, right;
  std::vector<size_t> order = {};  // element i of `left` belongs to element order[i] of `right`
};
using Equations = std::vector<Equation>;

Array moved(const Array& array, const std::vector<size_t>& order) {
  Array result = array;
  for (size_t i = 0; i < order.size(); ++i) result.data[i] = array.data[order[i]];
  return result;
}

Value run(const Node& node, Values inputs) {
  return clone_with(node, std::move(inputs), node.regions())->output();
}

// Nodes with one result on one device, all of whose inputs have its dims.
bool can_be_elementwise(const Node& node) {
  const auto is_here = [](const Placement& placement) { return placement.is_replicated(); };
  return node.output_count() == 1 && !node.inputs().empty() && node.regions().empty() &&
         is_here(node.placements()[0]) && std::ranges::all_of(node.inputs(), [&](const Value& x) {
           return x.dims() == node.shapes()[0].dims && is_here(x.placement());
         });
}

void probe_places(const Node& node, const Arrays& arrays, const Values& inputs, Rng& rng,
                  Runs& runs, Equations& equations) {
  std::vector<size_t> order(arrays[0].data.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(i) - 1))]);
  }
  Values elsewhere;
  for (size_t i = 0; i < inputs.size(); ++i) {
    elsewhere.push_back(runs.input(moved(arrays[i], order), inputs[i].dtype()));
  }
  equations.push_back({&node.op(), "elementwise", runs.result(run(node, elsewhere)),
                       runs.result(run(node, inputs)), order});
}

void probe_two_inputs(const Node& node, const Values& in, Runs& runs, Equations& equations) {
  const auto equal = [&](const std::string& property, const Values& inputs, const Value& wanted) {
    equations.push_back(
        {&node.op(), property, runs.result(run(node, inputs)), runs.result(wanted)});
  };
  equal("commutative", {in[1], in[0]}, run(node, in));
  equal("idempotent", {in[0], in[0]}, in[0]);
  const DType dtype = in[1].dtype();
  for (const Identity identity : kIdentities) {
    if (identity == Identity::kAllBits && is_float(dtype)) continue;
    const double number = identity_number(identity, dtype);
    const Array all = make_array(in[1].dims(), [&](const Dims&) { return number; });
    equal(identity_claim(identity), {in[0], runs.input(all, dtype)}, in[0]);
  }
}

// An alias gives its input back, however often: nothing was done that could be undone.
bool can_be_undone(const Node& node) {
  return node.op().kind.memory != MemoryClass::kAlias && node.inputs().size() == 1 &&
         node.output_count() == 1 && node.shapes()[0] == node.input(0).shape() &&
         node.regions().empty() && node.placements()[0].is_replicated() &&
         node.input(0).placement().is_replicated();
}

void probe(const Node& node, Rng& rng, Runs& runs, Equations& equations) {
  Arrays arrays;
  Values inputs;
  for (const Value& input : node.inputs()) {
    arrays.push_back(numbers(input.shape(), rng));
    inputs.push_back(runs.input(arrays.back(), input.dtype()));
  }
  if (can_be_elementwise(node)) {
    probe_places(node, arrays, inputs, rng, runs, equations);
    if (inputs.size() == 2 && node.op().kind.elementwise) {
      probe_two_inputs(node, inputs, runs, equations);
    }
  }
  if (can_be_undone(node)) {
    const Value once = optimization_barrier(Values{run(node, inputs)})[0];
    equations.push_back(
        {&node.op(), "involution", runs.result(run(node, {once})), runs.result(inputs[0])});
  }
}

// The properties that an op had on every node that could show them.
std::map<const OpDef*, Claims> found_properties() {
  Rng rng(1, "op kinds");
  Runs runs;
  Equations equations;
  for (const Family& family : families()) {
    for (const Case& test : family.cases) {
      Values inputs;
      for (const Input& input : test.inputs) inputs.push_back(parameter("x", input.shape));
      const Values results = test.build(inputs);  // keeps the nodes alive
      for (const Node* node : topological_order(results)) {
        if (node->op().name == test.op) probe(*node, rng, runs, equations);
      }
    }
  }
  runs.run();
  std::map<const OpDef*, Claims> held, broken;
  for (const auto& [op, property, left, right, order] : equations) {
    const bool holds = are_near(runs.at(left), moved(runs.at(right), order));
    (holds ? held : broken)[op].insert(property);
  }
  for (const auto& [op, properties] : broken) {
    for (const std::string& property : properties) held[op].erase(property);
  }
  return held;
}

TEST(OpKinds, ClaimWhatTheOpsDoAndAllOfIt) {
  auto found = found_properties();
  for (const OpDef* op : op_table()) {
    // In some types two identities are one number: of those that hold the claimed one will do.
    const std::string claimed = identity_claim(op->kind.identity);
    if (found[op].contains(claimed)) {
      std::erase_if(found[op], [&](const std::string& property) {
        return property.starts_with("identity") && property != claimed;
      });
    }
    EXPECT_EQ(claims_of(*op), found[op]) << op->name;
  }
}

}  // namespace
}  // namespace hum::graph::op_test

// Every op and its gradient against JAX, and the check that none is left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/op.h"
#include "tests/parity/golden.h"
#include "tests/parity/op_cases.h"

namespace hum::parity {
namespace {

// Of single ops in f32 against float64.
constexpr double kBound = 1e-5, kGradientBound = 2e-5;

// What devices tell each other: a program of one device, as JAX made these, holds none of it.
constexpr std::string_view kNeedAMesh[] = {"place_as",       "all_reduce",         "all_gather",
                                           "reduce_scatter", "collective_permute", "all_to_all",
                                           "shard"};

bool has_gradients(const Json& golden) {
  return std::ranges::any_of(golden.at("gradients"), [](const Json& g) { return !g.is_null(); });
}

void compare(const OpCase& test, Comparison& comparison) {
  SCOPED_TRACE(test.name);
  const Json& golden = golden_cases("ops.json").at(test.name);
  Values inputs;
  for (size_t i = 0; i < golden.at("inputs").size(); ++i) {
    const std::string name = test.name + "/" + std::to_string(i);
    inputs.push_back(comparison.input(name, golden_input(golden.at("inputs")[i], name)));
  }
  const Values outputs = test.build(inputs);
  ASSERT_EQ(outputs.size(), golden.at("outputs").size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    comparison.expect_values(test.name + ": output " + std::to_string(i), outputs[i],
                             golden.at("outputs")[i], kBound);
  }
  if (!has_gradients(golden)) return;
  const Values cotangents = comparison.cotangents(test.name, outputs);
  const Values found = graph::pullback(outputs, cotangents, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Json& wanted = golden.at("gradients")[i];
    if (wanted.is_null()) continue;
    comparison.expect_values(test.name + ": gradient of input " + std::to_string(i), found[i],
                             wanted, kGradientBound);
  }
}

class JaxOps : public ::testing::TestWithParam<Family> {};

TEST_P(JaxOps, HaveItsValuesAndGradients) {
  Comparison comparison;
  for (const OpCase& test : GetParam().cases()) compare(test, comparison);
  comparison.run();
}
INSTANTIATE_TEST_SUITE_P(All, JaxOps, ::testing::ValuesIn(families()),
                         [](const auto& info) { return std::string(info.param.name); });

// Names of the ops that the cases' graphs hold, those of their regions among them.
void collect(const Values& roots, std::set<std::string_view>& names) {
  for (const graph::Node* node : graph::topological_order(roots)) {
    names.insert(node->op().name);
    for (const graph::Region& region : node->regions()) collect(region.results, names);
  }
}

std::set<std::string_view> checked_ops(bool with_gradients) {
  std::set<std::string_view> names;
  for (const Family& family : families()) {
    for (const OpCase& test : family.cases()) {
      const Json& golden = golden_cases("ops.json").at(test.name);
      if (with_gradients && !has_gradients(golden)) continue;
      Values inputs;
      for (const Json& spec : golden.at("inputs")) {
        inputs.push_back(graph::parameter("x", golden_input(spec, "x").shape()));
      }
      collect(test.build(inputs), names);
    }
  }
  return names;
}

TEST(JaxOps, LeaveNoOpOut) {
  const auto valued = checked_ops(false), differentiated = checked_ops(true);
  for (const graph::OpDef* op : graph::op_table()) {
    if (std::ranges::find(kNeedAMesh, op->name) != std::end(kNeedAMesh)) continue;
    EXPECT_TRUE(valued.contains(op->name)) << op->name << " has no values from JAX";
    // A scan's gradient is made by hand, not by its row.
    const bool differentiable =
        op->name == "scan" || (op->vjp != graph::kNoGradient && op->vjp != graph::zero_gradient);
    EXPECT_TRUE(!differentiable || differentiated.contains(op->name))
        << op->name << " has no gradients from JAX";
  }
}

TEST(JaxOps, UseEveryGoldenCase) {
  std::set<std::string> stored, used;
  for (const auto& [name, unused] : golden_cases("ops.json").items()) stored.insert(name);
  for (const Family& family : families()) {
    for (const OpCase& test : family.cases()) used.insert(test.name);
  }
  EXPECT_EQ(used, stored);
}

}  // namespace
}  // namespace hum::parity

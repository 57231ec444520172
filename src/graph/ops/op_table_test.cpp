// Every op against its reference: the families' tables, joined, and the check that no op is
// missing.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/op_test.h"

namespace hum::graph::op_test {

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies = {
      structure_family(), constant_family(),    unary_family(),
      binary_family(),    reorder_family(),     cut_and_join_family(),
      dot_family(),       reduction_family(),   reduction_composites_family(),
      indexing_family(),  activation_family(),  convolution_family(),
      spectral_family(),  control_family(),     placement_family(),
      sort_family(),      custom_call_family(),
  };
  return kFamilies;
}

namespace {

using ::testing::HasSubstr;

class OpFamily : public ::testing::TestWithParam<size_t> {
 protected:
  const Family& family() const { return families()[GetParam()]; }
};

TEST_P(OpFamily, MatchesItsReferenceInF32) { expect_matches_reference(family(), DType::kF32); }

TEST_P(OpFamily, StaysWithinItsBoundsInBf16) { expect_matches_reference(family(), DType::kBF16); }

TEST_P(OpFamily, SaysWhatIsWrongWithShapes) {
  for (const ShapeErrorCase& test : family().shape_errors) {
    try {
      test.build();
      ADD_FAILURE() << test.op << " took what it should refuse with: " << test.message;
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), test.message) << test.op;
      EXPECT_THAT(error.what(), HasSubstr("_test.cpp:")) << test.op << ": names the caller's line";
    }
  }
}

TEST_P(OpFamily, PlacesItsResultsOnTheMesh) {
  for (const PlacementCase& test : family().placements) {
    std::string result;
    try {
      result = test.build().placement().to_string();
    } catch (const Error& error) {
      result = error.message();
    }
    EXPECT_EQ(result, test.result) << test.op;
  }
}

std::string family_name(const ::testing::TestParamInfo<size_t>& info) {
  return std::string(families()[info.param].name);
}
INSTANTIATE_TEST_SUITE_P(All, OpFamily, ::testing::Range(size_t{0}, families().size()),
                         family_name);

// Whether the case's graph really holds the op (regions aside).
bool holds(const Case& test, std::string_view op) {
  Values inputs;
  for (const Input& input : test.inputs) inputs.push_back(parameter("x", input.shape));
  const Values results = test.build(inputs);  // keeps the nodes alive
  const auto order = topological_order(results);
  return std::ranges::any_of(order, [&](const Node* node) { return node->op().name == op; });
}

TEST(OpTable, EveryCaseHoldsTheOpItNames) {
  for (const Family& family : families()) {
    for (const Case& test : family.cases) {
      if (test.op.empty()) continue;
      EXPECT_TRUE(holds(test, test.op)) << test.name;
    }
  }
}

template <typename Rows>
bool mentions(Rows Family::*rows, std::string_view op) {
  return std::ranges::any_of(families(), [&](const Family& family) {
    return std::ranges::any_of(family.*rows, [&](const auto& row) { return row.op == op; });
  });
}

bool has_gradient_case(std::string_view op, Gradient gradient) {
  return std::ranges::any_of(families(), [&](const Family& family) {
    return std::ranges::any_of(
        family.cases, [&](const Case& test) { return test.op == op && test.gradient == gradient; });
  });
}

TEST(OpTable, EveryRowIsTested) {
  for (const OpDef* op : op_table()) {
    EXPECT_TRUE(mentions(&Family::cases, op->name)) << op->name << " has no test case";
    EXPECT_TRUE(mentions(&Family::shape_errors, op->name) ||
                mentions(&Family::without_shape_error, op->name))
        << op->name << " shows no shape error";
    const bool differentiable = op->vjp != kNoGradient && op->vjp != zero_gradient;
    const Gradient wanted = differentiable ? Gradient::kChecked : Gradient::kNone;
    EXPECT_TRUE(op->vjp == kNoGradient || has_gradient_case(op->name, wanted))
        << op->name << " has no gradient test";
  }
}

Case wrong(Gradient gradient) {
  // tanh with a gradient one percent too large, or (unchecked) a value one percent too large.
  const bool wrong_value = gradient == Gradient::kUnchecked;
  const auto forward = [](std::span<const Value> x) { return Values{tanh(x[0])}; };
  const auto backward = [](std::span<const Value>, std::span<const Value> y,
                           std::span<const Value> cotangents) {
    return Values{cotangents[0] * (1 - y[0] * y[0]) * 1.01};
  };
  return {"wrong",
          "",
          {f32({3, 5})},
          [=](std::span<const Value> x) {
            const Value y = custom_vjp(x, forward, backward)[0];
            return Values{wrong_value ? y * 1.01 : y};
          },
          [](std::span<const Array> x) {
            return Arrays{map(x[0], [](double v) { return std::tanh(v); })};
          },
          gradient};
}

TEST(OpRunner, NoticesWrongValuesAndWrongGradients) {
  EXPECT_FATAL_FAILURE(
      expect_matches_reference({"Wrong", {wrong(Gradient::kUnchecked)}, {}}, DType::kF32),
      "wrong: output 0");
  EXPECT_FATAL_FAILURE(
      expect_matches_reference({"Wrong", {wrong(Gradient::kChecked)}, {}}, DType::kF32),
      "wrong: gradient of input 0");
}

TEST(OpTable, NamesAreUnique) {
  std::vector<std::string_view> names;
  for (const OpDef* op : op_table()) names.push_back(op->name);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

}  // namespace
}  // namespace hum::graph::op_test

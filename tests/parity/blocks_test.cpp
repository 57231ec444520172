// One block of each model against JAX: its values, the gradients of its inputs and parameters.
#include "tests/parity/blocks.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <map>

#include "graph/ops.h"
#include "tests/parity/golden.h"

namespace hum::parity {
namespace {

using graph::Value;
using graph::Values;

constexpr double kBound = 2e-5, kGradientBound = 1e-4;

// Name, size and range of every parameter, which the golden file lists.
void expect_same_parameters(const nn::ParameterList& list, const Json& golden) {
  std::map<std::string, graph::Dims> declared, wanted;
  for (const auto& parameter : list.all()) declared[parameter.name] = parameter.shape.dims;
  for (const auto& [name, row] : golden.items()) wanted[name] = row[0].get<graph::Dims>();
  ASSERT_EQ(declared, wanted);
}

class JaxBlock : public ::testing::TestWithParam<Block> {};

TEST_P(JaxBlock, HasItsValuesAndGradients) {
  const std::string name = GetParam().golden;
  const Json& golden = golden_cases("blocks.json").at(name);
  Comparison comparison;
  Values inputs;
  for (size_t i = 0; i < golden.at("inputs").size(); ++i) {
    const std::string own = name + "/" + std::to_string(i);
    inputs.push_back(comparison.input(own, golden_input(golden.at("inputs")[i], own)));
  }
  nn::ParameterList list;
  const Values made = GetParam().build(nn::Scope(list), inputs);
  expect_same_parameters(list, golden.at("parameters"));
  if (HasFatalFailure()) return;
  Values all = inputs, outputs = made;
  for (const auto& parameter : list.all()) {
    const Json& row = golden.at("parameters").at(parameter.name);
    comparison.input(parameter.value,
                     ruled_tensor(name + "/" + parameter.name, parameter.shape.dims,
                                  row[1].get<double>(), row[2].get<double>()));
    all.push_back(parameter.value);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    comparison.expect_values("output " + std::to_string(i), outputs[i], golden.at("outputs")[i],
                             kBound);
  }
  const Values found = graph::pullback(outputs, comparison.cotangents(name, outputs), all);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Json& wanted = golden.at("gradients")[i];
    if (wanted.is_null()) continue;
    comparison.expect_values("gradient of input " + std::to_string(i), found[i], wanted,
                             kGradientBound);
  }
  for (size_t i = 0; i < list.all().size(); ++i) {
    const std::string& own = list.all()[i].name;
    comparison.expect_projection("gradient of " + own, found[inputs.size() + i],
                                 name + "/direction/" + own,
                                 golden.at("parameter_gradients").at(own), kGradientBound);
  }
  comparison.run();
}

INSTANTIATE_TEST_SUITE_P(All, JaxBlock, ::testing::ValuesIn(blocks()),
                         [](const auto& info) { return test_name(info.param); });

// A product whose golden numbers are not its own.
void compare_with_wrong_numbers() {
  Comparison comparison;
  const Value x = comparison.input("x", ruled_tensor("x", {3}));
  comparison.expect_values("square", x * x, Json{0.5, 0.5, 0.5}, 1e-5);
  comparison.run();
}

void compare_with_a_wrong_projection() {
  Comparison comparison;
  const Value x = comparison.input("x", ruled_tensor("x", {3}));
  comparison.expect_projection("x itself", x, "direction", Json{1.0, 1.0}, 1e-5);
  comparison.run();
}

TEST(Comparison, NoticesWrongNumbers) {
  EXPECT_FATAL_FAILURE(compare_with_wrong_numbers(), "square, element");
  ::testing::TestPartResultArray found;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
    compare_with_a_wrong_projection();
  }
  EXPECT_EQ(found.size(), 2) << "norm and projection are both wrong";
}

TEST(Comparison, TakesAnAbsentGradientForZeros) {
  Comparison comparison;
  comparison.expect_values("absent", {}, Json{0, 0}, 1e-5);
  EXPECT_NONFATAL_FAILURE(comparison.expect_values("absent", {}, Json{0, 2}, 1e-5), "is absent");
}

}  // namespace
}  // namespace hum::parity

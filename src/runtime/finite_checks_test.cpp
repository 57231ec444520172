// HUM_CHECK_NANS and HUM_PROFILE: what a session refuses or finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "graph/ops.h"
#include "runtime/testing.h"

namespace hum::runtime {
namespace {

using graph::DType;
using graph::Value;
using ::testing::HasSubstr;

// Sets a variable for the test's length.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Setting() { ::unsetenv(name_); }

 private:
  const char* name_;
};

std::string error_of(const graph::Function& function, std::vector<float> input) {
  try {
    run_once(function, std::vector{HostTensor::of({static_cast<int64_t>(input.size())},
                                                  std::span<const float>(input))});
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(CheckNans, NameTheOpAndTheLineOfTheFirst) {
  const Setting check("HUM_CHECK_NANS", "1");
  const Value x = graph::parameter("x", {DType::kF32, {3}});
  const Value y = graph::tanh(x) - 0.5;
  const int line = __LINE__ + 1;
  const Value z = graph::log(y);
  const graph::Function function{.parameters = {x}, .results = {z * 2.0 + 1.0}};
  EXPECT_EQ(error_of(function, {1, 2, 3}), "");
  EXPECT_EQ(error_of(function, {1, -2, 3}),
            fmt::format("main: a value is not finite: log made at finite_checks_test.cpp:{} "
                        "(f32[3])",
                        line));
  EXPECT_THAT(error_of(function, {1, std::numeric_limits<float>::quiet_NaN(), 3}),
              HasSubstr("input x (f32[3])"));
}

TEST(CheckNans, LookInsideBlocksAndLetWhatNoResultShowsPass) {
  const Setting check("HUM_CHECK_NANS", "1");
  const Value x = graph::parameter("x", {DType::kF32, {2}});
  const Value y = graph::checkpoint(graph::RecomputePolicy::kFull, graph::Values{x}, [](auto in) {
    return graph::Values{graph::sqrt(in[0]) + 1.0};
  })[0];
  const graph::Function block{.parameters = {x}, .results = {y}};
  EXPECT_THAT(error_of(block, {1, -1}), HasSubstr("sqrt made at finite_checks_test.cpp"));
  const graph::Function masked{.parameters = {x},
                               .results = {graph::select(x > 0, graph::sqrt(x), 0.0)}};
  EXPECT_EQ(error_of(masked, {1, -1}), "") << "the NaN is selected away";
}

TEST(CheckNans, LookAtSumsOverDevicesOnceTheyAreWhole) {
  const Setting check("HUM_CHECK_NANS", "1");
  const Value x = graph::parameter("x", {DType::kF32, {2}}, {.axes = {graph::kPartial, {}}});
  const Value y = graph::all_reduce(-x, graph::Axis::kData);
  const graph::Function function{.parameters = {x}, .results = {y}};
  EXPECT_EQ(error_of(function, {1, 2}), "");
  EXPECT_THAT(error_of(function, {1, std::numeric_limits<float>::infinity()}),
              HasSubstr("all_reduce made at finite_checks_test.cpp"));
}

TEST(CheckNans, AreOffByDefault) {
  const Value x = graph::parameter("x", {DType::kF32, {1}});
  EXPECT_EQ(error_of({.parameters = {x}, .results = {graph::log(x)}}, {-1}), "");
}

TEST(Profile, OfAnotherPlatformRefusesNamingOpAndLine) {
  const Setting profile("HUM_PROFILE", "neuron");
  const Value x = graph::parameter("x", {DType::kF32, {2}});
  const int line = __LINE__ + 1;
  const auto y = graph::while_loop(
      graph::Values{x}, [](auto c) { return graph::sum_all(c[0]) < 10; },
      [](auto c) { return graph::Values{c[0] * 2.0}; });
  const std::string message = error_of({.parameters = {x}, .results = y}, {1, 1});
  EXPECT_THAT(message, HasSubstr("while made at finite_checks_test.cpp:"));
  EXPECT_THAT(message, HasSubstr("does not run on neuron"));
  EXPECT_GT(line, 0);
  const auto z = graph::scan(3, graph::Values{x}, {}, [](const graph::ScanStep& step) {
    return graph::ScanResult{{step.carry[0] * 2.0}, {}};
  });
  EXPECT_EQ(error_of({.parameters = {x}, .results = z.carry}, {1, 1}), "");
}

TEST(Profile, OfNoPlatformIsRefused) {
  const Setting profile("HUM_PROFILE", "neurn");
  const Value x = graph::parameter("x", {DType::kF32, {1}});
  EXPECT_THAT(error_of({.parameters = {x}, .results = {x + 1.0}}, {1}),
              HasSubstr("no platform 'neurn'"));
}

TEST(Profile, OfNeuronPrintsNoTransform) {
  const Setting profile("HUM_PROFILE", "neuron");
  const Value x = graph::parameter("x", {DType::kF32, {8}});
  const auto spectrum = graph::rfft(x);
  const graph::Function function{.parameters = {x}, .results = {spectrum.real, spectrum.imag}};
  const std::vector<float> input = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto tensor = HostTensor::of({8}, std::span<const float>(input));
  const auto result = run_once(function, std::vector{tensor});
  EXPECT_NEAR(result[0].as<float>()[0], 36, 1e-4);
  EXPECT_NEAR(result[0].as<float>()[1], -4, 1e-4);
}

}  // namespace
}  // namespace hum::runtime

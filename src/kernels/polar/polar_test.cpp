#include "kernels/polar/polar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "graph/ops/shape_ops.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;

constexpr double kMaxLevel = 1;

// Both parts side by side, so that the gradient of each is random.
graph::Function program(graph::Shape shape) {
  return with_gradients("polar", {parameter("x", shape)}, [](auto in) {
    const auto [real, imag] = polar(in[0], kMaxLevel);
    return graph::concatenate({real, imag}, real.rank() - 1);
  });
}

TEST(Polar, ValuesAndGradientsAgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  for (const graph::Dims& dims : {graph::Dims{64, 590}, {3, 700, 2}, {9000}, {2, 5, 1030}}) {
    expect_row_kernels_agree(
        [&](DType dtype) {
          return program({dtype, dims});
        },
        1e-6, 1.0 / 128, {"hum.polar", "hum.polar_grad"});
  }
}

TEST(Polar, TurnsLargePhasesAsTheMathLibraryDoes) {
  HUM_NEEDS(Isa::kAvx2);
  constexpr int64_t kPhases = 4096;
  std::vector<float> x(2 * kPhases);
  for (int64_t i = 0; i < kPhases; ++i) {
    x[static_cast<size_t>(kPhases + i)] = static_cast<float>(4 * (i - kPhases / 2)) + 0.37F;
  }
  const Value in = parameter("x", {DType::kF32, {2 * kPhases}});
  const auto [real, imag] = polar(in, kMaxLevel);
  const auto parts = run_kernels(
      {"phases", {in}, {real, imag}, {}},
      {runtime::HostTensor::of({2 * kPhases}, std::span<const float>(x))}, {"hum.polar"});
  for (size_t i = 0; i < kPhases; ++i) {
    const double phase = x[kPhases + i];
    EXPECT_NEAR(parts[0].as<float>()[i], std::cos(phase), 1e-6) << phase;
    EXPECT_NEAR(parts[1].as<float>()[i], std::sin(phase), 1e-6) << phase;
  }
}

TEST(Polar, RefusesOddRows) {
  try {
    polar(parameter("x", {DType::kF32, {4, 7}}), kMaxLevel);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("polar: f32[4,7] does not hold as many levels as phases"));
  }
}

}  // namespace
}  // namespace hum::kernels

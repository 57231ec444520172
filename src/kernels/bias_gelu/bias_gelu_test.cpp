#include "kernels/bias_gelu/bias_gelu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "kernels/cpu_features.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;
using ::testing::HasSubstr;

graph::Function program(DType dtype, graph::Dims dims) {
  return with_gradients(
      "bias_gelu", {parameter("x", {dtype, dims}), parameter("bias", {DType::kF32, {dims.back()}})},
      [](auto in) { return bias_gelu(in[0], in[1]); });
}

const KernelCalls kBoth = {"hum.bias_gelu", "hum.bias_gelu_grad"};

TEST(BiasGelu, ValuesAndGradientsAgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  for (const graph::Dims& dims : {graph::Dims{300, 16},
                                  {4096},
                                  {7, 61, 31},
                                  {4, 1025},
                                  {4097, 1},
                                  {2, 300, 47},
                                  {3, 100, 256}}) {
    expect_row_kernels_agree([&](DType dtype) { return program(dtype, dims); }, 2e-6, 1.0 / 256,
                             kBoth);
  }
}

TEST(BiasGelu, IsRightAtTheEndsOfTheNumberLine) {
  HUM_NEEDS(Isa::kAvx2);  // plain ops overflow at the ends
  const Value x = parameter("x", {DType::kF32, {256, 16}}), b = parameter("b", {DType::kF32, {16}});
  const auto function =
      with_gradients("ends", {x, b}, [](auto in) { return bias_gelu(in[0], in[1]); });
  std::vector<float> values(4096, 0.0F);
  const float ends[] = {-1e30F, -100, -20, -10, -1e-30F, 0, 1e-30F, 10, 20, 100, 1e30F};
  std::copy(std::begin(ends), std::end(ends), values.begin());
  values[20] = std::nanf("");
  const auto inputs = std::vector{
      runtime::HostTensor::from_floats(DType::kF32, {256, 16}, values),
      runtime::HostTensor(graph::Shape{DType::kF32, {16}}),
      runtime::HostTensor::from_floats(DType::kF32, {256, 16}, std::vector<float>(4096, 1.0F))};
  const auto results = run_kernels(function, inputs, kBoth);
  const auto y = results[2].to_floats(), dx = results[0].to_floats();
  for (size_t i = 0; i < std::size(ends); ++i) {
    const double in = ends[i];
    const double wanted =
        in < -15  ? 0
        : in > 15 ? in
                  : 0.5 * in * (1 + std::tanh(0.7978845608 * (in + 0.044715 * in * in * in)));
    EXPECT_NEAR(y[i], wanted, 1e-6 * std::abs(wanted) + 1e-12) << in;
    EXPECT_NEAR(dx[i], in < -9 ? 0 : in > 9 ? 1 : 0.5, 1e-6) << in;
  }
  EXPECT_TRUE(std::isnan(y[20]));
}

TEST(BiasGelu, RefusesABiasOfAnotherSize) {
  try {
    bias_gelu(parameter("x", {DType::kF32, {4, 8}}), parameter("b", {DType::kF32, {4}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("bias_gelu: bias f32[4] does not fit the last dim of f32[4,8]"));
  }
}

}  // namespace
}  // namespace hum::kernels

#include "kernels/layer_norm/layer_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/cpu_features.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;
using ::testing::HasSubstr;

graph::Function program(DType dtype, graph::Dims dims, bool rms) {
  const graph::Shape row = {DType::kF32, {dims.back()}};
  graph::Values inputs = {parameter("x", {dtype, dims}), parameter("scale", row)};
  if (rms) {
    return with_gradients("rms_norm", inputs, [](auto in) { return rms_norm(in[0], in[1], 1e-6); });
  }
  inputs.push_back(parameter("bias", row));
  return with_gradients("layer_norm", inputs,
                        [](auto in) { return layer_norm(in[0], in[1], in[2]); });
}

const KernelCalls kBoth = {"hum.layer_norm", "hum.layer_norm_grad"};

TEST(LayerNorm, ValuesAndGradientsAgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  for (const graph::Dims& dims : {graph::Dims{300, 16},
                                  {7, 61, 31},
                                  {4, 1025},
                                  {2, 300, 47},
                                  {3, 100, 256},
                                  {2, 5000},
                                  {2048, 2}}) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      for (const bool rms : {false, true}) {
        const auto function = program(dtype, dims, rms);
        // Rows of two normalise to +-1, and the terms of their gradient cancel.
        const double exact = dims.back() == 2 ? 2e-3 : 1e-5;
        expect_kernels_agree(function, random_inputs(function),
                             dtype == DType::kF32 ? exact : 1.0 / 128, kBoth);
      }
    }
  }
}

// Float sums of x^2 - mean^2 would lose every digit here.
TEST(LayerNorm, KeepsItsDigitsBesideALargeMean) {
  HUM_NEEDS(Isa::kAvx2);
  const auto function = program(DType::kF32, {64, 96}, false);
  auto inputs = random_inputs(function);
  for (float& x : inputs[0].as<float>()) x += 3000;
  expect_kernels_agree(function, inputs, 1e-3, kBoth);
}

TEST(LayerNorm, RefusesParametersOfAnotherSize) {
  const Value x = parameter("x", {DType::kF32, {4, 8}}), s = parameter("s", {DType::kF32, {4}});
  const auto message = [](auto build) {
    try {
      build();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message([&] { layer_norm(x, s, s); }),
              HasSubstr("layer_norm: f32[4] does not fit the last dim of f32[4,8]"));
  EXPECT_THAT(message([&] { rms_norm(x, s); }), HasSubstr("rms_norm: f32[4] does not fit"));
}

}  // namespace
}  // namespace hum::kernels

#include "kernels/swiglu/swiglu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;

graph::Function program(graph::Shape shape) {
  return with_gradients("swiglu", {parameter("x", shape)}, [](auto in) { return swiglu(in[0]); });
}

const KernelCalls kBoth = {"hum.swiglu", "hum.swiglu_grad"};

TEST(Swiglu, ValuesAndGradientsAgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  for (const graph::Dims& dims :
       {graph::Dims{64, 2, 64}, {3, 2, 1367}, {2, 4099}, {2, 5, 2, 1031}}) {
    expect_row_kernels_agree(
        [&](DType dtype) {
          return program({dtype, dims});
        },
        1e-6, 1.0 / 128, kBoth);
  }
}

TEST(Swiglu, HandlesLargeGates) {
  HUM_NEEDS(Isa::kAvx2);
  const auto function = program({DType::kF32, {2, 4096}});
  auto inputs = random_inputs(function);
  for (float& x : inputs[0].as<float>()) x *= 1e4F;
  expect_kernels_agree(function, inputs, 1e-6, kBoth);
}

TEST(Swiglu, RefusesOtherShapes) {
  try {
    swiglu(parameter("x", {DType::kF32, {4, 3, 8}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("swiglu: f32[4,3,8] is not [..., 2, F] of floats"));
  }
}

}  // namespace
}  // namespace hum::kernels

#include "kernels/depthwise_conv/depthwise_conv.h"

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

struct Case {
  int64_t batch, time, channels, taps;
  graph::DepthwiseOptions options;
};

graph::Function program(const Case& c, DType dtype) {
  return with_gradients("depthwise_conv",
                        {parameter("x", {dtype, {c.batch, c.time, c.channels}}),
                         parameter("kernel", {DType::kF32, {c.taps, c.channels}}),
                         parameter("bias", {DType::kF32, {c.channels}})},
                        [&](auto in) { return depthwise_conv(in[0], in[1], in[2], c.options); });
}

TEST(DepthwiseConv, ValuesAndGradientsAgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  const Case cases[] = {{2, 61, 48, 7, {1, 3, 3}},   {3, 300, 16, 7, {1, 6, 0}},
                        {1, 200, 32, 5, {3, 6, 6}},  {2, 70, 64, 3, {1, 0, 0}},
                        {1, 100, 48, 1, {1, 0, 0}},  {5, 3, 512, 7, {1, 3, 3}},
                        {1, 90, 64, 16, {2, 20, 17}}};
  for (const Case& c : cases) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const auto function = program(c, dtype);
      SCOPED_TRACE(fmt::format("[{}, {}, {}], {} taps, dilation {}, padding {} + {}", c.batch,
                               c.time, c.channels, c.taps, c.options.dilation,
                               c.options.padding_low, c.options.padding_high));
      expect_kernels_agree(function, random_inputs(function),
                           dtype == DType::kF32 ? 2e-6 : 1.0 / 256,
                           {"hum.depthwise_conv", "hum.depthwise_conv_grad"});
    }
  }
}

TEST(DepthwiseConv, RefusesWhatDoesNotFit) {
  try {
    depthwise_conv(parameter("x", {DType::kF32, {1, 4, 8}}), parameter("k", {DType::kF32, {3, 8}}),
                   parameter("b", {DType::kF32, {4}}), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("x f32[1,4,8], kernel f32[3,8] and bias f32[4]"));
  }
}

}  // namespace
}  // namespace hum::kernels

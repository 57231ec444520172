#include "kernels/conv1d/conv1d.h"

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
  int64_t batch, time, inputs, outputs, taps;
  graph::Conv1dOptions options;
  std::string to_string() const {
    return fmt::format("[{}, {}, {}] to {}, {} taps, stride {}, dilation {}, padding {} + {}",
                       batch, time, inputs, outputs, taps, options.stride, options.dilation,
                       options.padding_low, options.padding_high);
  }
};

using Convolution = Value (*)(const Value&, const Value&, const graph::Conv1dOptions&,
                              std::source_location);

graph::Function program(Convolution convolution, const Case& c, DType dtype) {
  return with_gradients("conv1d",
                        {parameter("x", {dtype, {c.batch, c.time, c.inputs}}),
                         parameter("kernel", {dtype, {c.taps, c.inputs, c.outputs}})},
                        [&](auto in) {
                          return convolution(in[0], in[1], c.options,
                                             std::source_location::current());
                        });
}

void expect_agreement(Convolution convolution, std::span<const Case> cases, DType dtype) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.to_string());
    const auto function = program(convolution, c, dtype);
    const KernelCalls calls = kernel_calls(function);  // includes the gradient's products
    EXPECT_EQ(calls.count("hum.conv1d"), 1u);
    EXPECT_EQ(calls.count("hum.conv_transpose1d"), 1u);
    expect_kernels_agree(function, random_inputs(function), dtype == DType::kF32 ? 4e-6 : 1.0 / 128,
                         calls);
  }
}

const Case kConv1d[] = {{2, 161, 64, 80, 7, {.padding_low = 3, .padding_high = 3}},
                        {1, 203, 48, 64, 7, {.dilation = 9, .padding_low = 27, .padding_high = 27}},
                        {2, 333, 32, 64, 4, {.stride = 2, .padding_low = 1, .padding_high = 1}},
                        {1, 515, 32, 144, 16, {.stride = 8, .padding_low = 4, .padding_high = 4}},
                        {2, 251, 64, 32, 5, {.stride = 3, .dilation = 2, .padding_low = 9}},
                        {1, 400, 64, 64, 2, {.stride = 3, .padding_high = 2}},
                        {2, 300, 64, 64, 1, {}}};
const Case kConvTranspose1d[] = {
    {2, 61, 64, 80, 4, {.stride = 2, .padding_low = 1, .padding_high = 1}},
    {1, 53, 96, 48, 16, {.stride = 8, .padding_low = 4, .padding_high = 4}},
    {2, 71, 64, 32, 5, {.stride = 3, .dilation = 2, .padding_low = 7}},
    {2, 150, 64, 64, 2, {.stride = 4}},
    {1, 210, 48, 64, 7, {.dilation = 3, .padding_high = 5}}};

TEST(Conv1d, ValuesAndGradientsInF32AgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  expect_agreement(conv1d, kConv1d, DType::kF32);
}

TEST(Conv1d, JoinsTimesOfFewOutputs) {
  HUM_NEEDS(Isa::kAvx2);
  const Case few = {2, 3200, 32, 1, 7, {.padding_low = 3, .padding_high = 3}};
  expect_agreement(conv1d, {&few, 1}, DType::kF32);
  const Case transposed = {1, 1000, 64, 2, 16, {.stride = 8, .padding_low = 4, .padding_high = 4}};
  expect_agreement(conv_transpose1d, {&transposed, 1}, DType::kF32);
}

TEST(Conv1d, ValuesAndGradientsInBf16AgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx512Bf16);
  expect_agreement(conv1d, kConv1d, DType::kBF16);
}

TEST(ConvTranspose1d, ValuesAndGradientsInF32AgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  expect_agreement(conv_transpose1d, kConvTranspose1d, DType::kF32);
}

TEST(ConvTranspose1d, ValuesAndGradientsInBf16AgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx512Bf16);
  expect_agreement(conv_transpose1d, kConvTranspose1d, DType::kBF16);
}

TEST(Conv1d, TakesOneChannelAndLeavesOddOutputsToPlainOps) {
  HUM_NEEDS(Isa::kAvx2);
  const Case sound = {1, 4801, 1, 64, 7, {.padding_low = 3, .padding_high = 3}};
  const auto first = program(conv1d, sound, DType::kF32);
  expect_kernels_agree(first, random_inputs(first), 4e-6, {"hum.conv1d"});
  const Case odd = {1, 4801, 64, 1, 7, {.padding_low = 3, .padding_high = 3}};
  const auto last = program(conv1d, odd, DType::kF32);
  expect_kernels_agree(last, random_inputs(last), 4e-6, {"hum.conv_transpose1d"});
}

TEST(Conv1d, RefusesWhatDoesNotFit) {
  try {
    kernels::conv1d(parameter("x", {DType::kF32, {1, 4, 8}}),
                    parameter("k", {DType::kF32, {3, 4, 16}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("f32[1,4,8]"));
  }
}

}  // namespace
}  // namespace hum::kernels

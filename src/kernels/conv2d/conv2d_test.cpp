#include "kernels/conv2d/conv2d.h"

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
  graph::Dims x, kernel;  // [B, H, W, I], [K, L, I, O]
  graph::Conv2dOptions options;
};

using Convolution = Value (*)(const Value&, const Value&, const graph::Conv2dOptions&,
                              std::source_location);

graph::Function program(Convolution convolution, const Case& c, DType dtype) {
  return with_gradients(
      "conv2d", {parameter("x", {dtype, c.x}), parameter("kernel", {dtype, c.kernel})},
      [&](auto in) {
        return convolution(in[0], in[1], c.options, std::source_location::current());
      });
}

void expect_agreement(Convolution convolution, std::span<const Case> cases, DType dtype) {
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("[{}] by [{}], strides {}", fmt::join(c.x, ","),
                             fmt::join(c.kernel, ","), fmt::join(c.options.strides, ",")));
    const auto function = program(convolution, c, dtype);
    EXPECT_EQ(kernel_calls(function), (KernelCalls{"hum.conv2d", "hum.conv_transpose2d"}));
    expect_kernels_agree(function, random_inputs(function), dtype == DType::kF32 ? 4e-6 : 1.0 / 128,
                         kernel_calls(function));
  }
}

// The fourth: more columns than a block has. The fifth: windows that lie outside in both dims.
const Case kConv2d[] = {{{2, 13, 21, 16}, {5, 5, 16, 32}, {{2, 2}, {1, 1}, 1, {1, 1}, {2, 2}}},
                        {{1, 14, 23, 32}, {3, 4, 32, 80}, {{1, 1}, {2, 3}, 1, {1, 2}, {3, 0}}},
                        {{3, 9, 17, 32}, {2, 5, 32, 48}, {{3, 1}, {1, 1}, 1, {0, 4}, {1, 0}}},
                        {{1, 5, 211, 16}, {3, 7, 16, 64}, {{1, 1}, {1, 1}, 1, {1, 3}, {1, 3}}},
                        {{2, 8, 10, 64}, {3, 3, 64, 64}, {{1, 1}, {1, 1}, 1, {6, 5}, {6, 5}}},
                        {{2, 16, 16, 64}, {1, 1, 64, 144}, {}}};
const Case kConvTranspose2d[] = {
    {{2, 7, 11, 32}, {5, 5, 32, 16}, {{2, 2}, {1, 1}, 1, {1, 1}, {2, 2}}},
    {{1, 9, 13, 48}, {3, 4, 48, 32}, {{1, 3}, {2, 1}, 1, {1, 0}, {0, 2}}},
    {{1, 12, 14, 64}, {2, 2, 64, 80}, {{3, 4}, {1, 1}, 1, {0, 0}, {0, 0}}},
    {{2, 3, 130, 32}, {4, 3, 32, 48}, {{2, 1}, {1, 2}, 1, {2, 2}, {0, 1}}}};

TEST(Conv2d, ValuesAndGradientsInF32AgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  expect_agreement(conv2d, kConv2d, DType::kF32);
}

TEST(Conv2d, ValuesAndGradientsInBf16AgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx512Bf16);
  expect_agreement(conv2d, kConv2d, DType::kBF16);
}

TEST(ConvTranspose2d, ValuesAndGradientsInF32AgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  expect_agreement(conv_transpose2d, kConvTranspose2d, DType::kF32);
}

TEST(ConvTranspose2d, ValuesAndGradientsInBf16AgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx512Bf16);
  expect_agreement(conv_transpose2d, kConvTranspose2d, DType::kBF16);
}

// Few outputs: 8, 16 and 2 columns are joined.
const Case kConv2dToFew[] = {
    {{2, 40, 64, 16}, {4, 4, 16, 2}, {{1, 1}, {2, 2}, 1, {3, 3}, {3, 3}}},
    {{1, 90, 96, 32}, {3, 5, 32, 1}, {{1, 3}, {1, 1}, 1, {1, 2}, {1, 0}}},
    {{1, 20, 32, 32}, {2, 3, 32, 24}, {{1, 1}, {1, 1}, 1, {0, 1}, {1, 1}}}};
const Case kConvTranspose2dToFew[] = {
    {{1, 48, 32, 32}, {5, 5, 32, 1}, {{2, 2}, {1, 1}, 1, {1, 1}, {2, 2}}},
    {{2, 12, 40, 48}, {3, 4, 48, 4}, {{1, 3}, {2, 1}, 1, {1, 0}, {0, 1}}}};

TEST(Conv2d, JoinsColumnsOfFewOutputs) {
  HUM_NEEDS(Isa::kAvx2);
  expect_agreement(conv2d, kConv2dToFew, DType::kF32);
  expect_agreement(conv_transpose2d, kConvTranspose2dToFew, DType::kF32);
}

TEST(Conv2d, JoinsColumnsOfFewOutputsInBf16) {
  HUM_NEEDS(Isa::kAvx512Bf16);
  expect_agreement(conv2d, std::span(kConv2dToFew).first(1), DType::kBF16);
  expect_agreement(conv_transpose2d, std::span(kConvTranspose2dToFew).last(1), DType::kBF16);
}

TEST(Conv2d, TakesTwoChannelsAndLeavesColumnsThatCannotBeJoinedToPlainOps) {
  HUM_NEEDS(Isa::kAvx2);
  const graph::Conv2dOptions same{.padding_low = {2, 2}, .padding_high = {2, 2}};
  const auto first = program(conv2d, {{1, 40, 60, 2}, {5, 5, 2, 16}, same}, DType::kF32);
  expect_kernels_agree(first, random_inputs(first), 4e-6, {"hum.conv2d"});
  const auto last = program(conv2d, {{1, 40, 60, 16}, {5, 5, 16, 2}, same}, DType::kF32);
  expect_kernels_agree(last, random_inputs(last), 4e-6, {"hum.conv_transpose2d"});
  const auto grouped =
      program(conv2d, {{1, 40, 60, 32}, {5, 5, 16, 32}, {.groups = 2}}, DType::kF32);
  expect_kernels_agree(grouped, random_inputs(grouped), 4e-6, {});
}

TEST(Conv2d, RefusesWhatDoesNotFit) {
  try {
    kernels::conv2d(parameter("x", {DType::kF32, {1, 4, 4, 8}}),
                    parameter("k", {DType::kF32, {3, 3, 4, 16}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("f32[1,4,4,8]"));
  }
}

}  // namespace
}  // namespace hum::kernels

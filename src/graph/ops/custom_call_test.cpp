// custom_call: the printed call, its fallback in place, and whose gradient is taken.
#include "graph/ops/custom_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/function.h"
#include "graph/ops.h"
#include "graph/ops/op_test.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using ::testing::HasSubstr;

const Shape kMatrix{DType::kF32, {2, 3}};

Values doubled(std::span<const Value> in) { return {in[0] * 2.0}; }

Lowering with_kernels() {
  Lowering lowering;
  lowering.use_kernel = [](const Node& node) { return custom_call_target(node) == "hum_double"; };
  return lowering;
}

TEST(CustomCall, PrintsTheKernelOrTheFallback) {
  const Value x = parameter("x", kMatrix);
  const Attributes settings = {
      {"n", int64_t{7}}, {"eps", 0.5}, {"on", true}, {"dims", Dims{1, 2}}, {"name", "rms"}};
  const Values y = custom_call("hum_double", Values{x}, settings, doubled);
  const Function function{.parameters = {x}, .results = y};
  const std::string kernel = print_module(function, with_kernels());
  EXPECT_THAT(kernel, HasSubstr("call_target_name = \"hum_double\", api_version = 4 : i32"));
  EXPECT_THAT(kernel,
              HasSubstr("backend_config = {dims = array<i64: 1, 2>, eps = 5.00000000e-01 : f32, "
                        "n = 7 : i64, name = \"rms\", on = true}"));
  EXPECT_THAT(kernel, HasSubstr("operand_layouts = [dense<[1, 0]> : tensor<2xindex>]"));
  EXPECT_THAT(kernel, Not(HasSubstr("stablehlo.multiply")));
  const std::string fallback = print_module(function);
  EXPECT_THAT(fallback, HasSubstr("stablehlo.multiply"));
  EXPECT_THAT(fallback, Not(HasSubstr("custom_call")));
}

TEST(CustomCall, TakesTheFallbacksGradientUnlessOneIsGiven) {
  const Value x = parameter("x", kMatrix);
  const Value plain = custom_call("hum_double", Values{x}, {}, doubled)[0];
  const Values own = custom_call("hum_double", Values{x}, {}, doubled,
                                 {.vjp = [](auto, auto, std::span<const Value> cotangents) {
                                   return Values{tanh(cotangents[0])};
                                 }});
  const auto text_of = [&](const Value& y) {
    return print_module({.parameters = {x}, .results = gradients(reduce_sum(y, {0, 1}), Values{x})},
                        with_kernels());
  };
  EXPECT_THAT(text_of(plain), HasSubstr("stablehlo.multiply"));
  EXPECT_THAT(text_of(own[0]), HasSubstr("stablehlo.tanh"));
}

TEST(CustomCall, SaysWhichResultOverwritesWhichInput) {
  const Value x = parameter("x", kMatrix);
  const Values y =
      custom_call("hum_double", Values{x}, {}, doubled, {.output_operand_aliases = {{0, 0}}});
  EXPECT_THAT(
      print_module({.parameters = {x}, .results = y}, with_kernels()),
      HasSubstr("output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = "
                "[], operand_index = 0, operand_tuple_indices = []>]"));
}

TEST(CustomCall, RefusesAFallbackThatUsesMoreThanItsInputs) {
  const Value x = parameter("x", kMatrix), w = parameter("w", kMatrix);
  try {
    custom_call("hum_scale", Values{x}, {},
                [&](std::span<const Value> in) { return Values{in[0] * w}; });
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the fallback of hum_scale uses f32[2,3]"));
  }
}

TEST(CustomCall, RefusesAnAliasOfAnotherShape) {
  const Value x = parameter("x", kMatrix);
  try {
    custom_call("hum_sum", Values{x}, {},
                [](std::span<const Value> in) { return Values{reduce_sum(in[0], {0})}; },
                {.output_operand_aliases = {{0, 0}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("result 0 is f32[3], but the input 0 it overwrites is "
                                        "f32[2,3]"));
  }
}

}  // namespace

namespace op_test {

// Run as its fallback here: no kernel is registered.
Family custom_call_family() {
  const auto square = [](std::span<const Value> in) { return Values{in[0] * in[0], in[0] + 1}; };
  return {.name = "CustomCall",
          .cases = {{.name = "custom_call's fallback",
                     .op = "custom_call",
                     .inputs = {f32({3, 4})},
                     .build = [=](auto in) { return custom_call("hum_square", in, {}, square); },
                     .reference =
                         [](auto in) {
                           return Arrays{map(in[0], [](double x) { return x * x; }),
                                         map(in[0], [](double x) { return x + 1; })};
                         }}},
          .shape_errors = {{"custom_call",
                            [=] {
                              return custom_call("hum_square",
                                                 Values{parameter("x", {DType::kF32, {2}})}, {},
                                                 square, {.output_operand_aliases = {{0, 1}}})[0];
                            },
                            "custom_call: alias of result 0 to input 1 is out of range"}},
          .placements = {{"custom_call",
                          [=] {
                            return custom_call("hum_square",
                                               Values{placed({DType::kF32, {2}}, sharded(0))}, {},
                                               square)[0];
                          },
                          "data: R, tensor: S(0)"}}};
}

}  // namespace op_test
}  // namespace hum::graph

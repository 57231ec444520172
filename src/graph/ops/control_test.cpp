// Loops: cases for the op table, their references the same loops in double.
#include "graph/ops/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "graph/ops/op_test.h"
#include "graph/stablehlo/print.h"
#include "runtime/testing.h"

namespace hum::graph::op_test {
namespace {

using ::testing::HasSubstr;

// h = tanh(h W + x_t), y = h x_t, from the first row of x to the last (or the other way round).
// Shapes: h [2, 3], w [3, 3], x [T, 2, 3].
Arrays reference_rnn(std::span<const Array> in, bool reverse) {
  Array h = in[0], ys = in[2];
  for (int64_t step = 0; step < in[2].size(0); ++step) {
    const int64_t t = reverse ? in[2].size(0) - 1 - step : step;
    const Array before = h;
    h = make_array(h.dims, [&](const Dims& at) {
      double sum = in[2].at({t, at[0], at[1]});
      for (int64_t k = 0; k < 3; ++k) sum += before.at({at[0], k}) * in[1].at({k, at[1]});
      return std::tanh(sum);
    });
    for (int64_t i = 0; i < 6; ++i) {
      const auto at = static_cast<size_t>(t * 6 + i);
      ys.data[at] = in[2].data[at] * h.data[static_cast<size_t>(i)];
    }
  }
  return {h, ys};
}

Case rnn_case(std::string name, ScanOptions options) {
  return {.name = std::move(name),
          .op = "scan",
          .inputs = {f32({2, 3}), f32({3, 3}, -0.5, 0.5), f32({4, 2, 3})},
          .build =
              [options](auto in) {
                const auto [carry, ys] = scan(
                    4, in.first(1), in.last(1),
                    [&](const ScanStep& step) {
                      const Value w = convert(convert(in[1], DType::kF32), in[1].dtype());
                      const Value h = tanh(matmul(step.carry[0], w) + step.xs[0]);
                      return ScanResult{{h}, {h * step.xs[0]}};
                    },
                    options);
                return Values{carry[0], ys[0]};
              },
          .reference = [options](auto in) { return reference_rnn(in, options.reverse); },
          .bounds = {.bf16_value = 0.1, .bf16_gradient = 0.2}};
}

// Two carries, one of them whole numbers; a result that is no float; the index; no xs.
Case counting_case() {
  return {.name = "scan with an integer carry",
          .op = "scan",
          .inputs = {f32({3}), i32({})},
          .build =
              [](auto in) {
                const auto [carry, ys] = scan(5, in, {}, [&](const ScanStep& step) {
                  const Value odd = equal(remainder(step.carry[1], 2), 1);
                  const Value x = step.carry[0];
                  return ScanResult{{select(odd, x * x, x * 0.5), step.carry[1] + step.index},
                                    {odd, sine(x)}};
                });
                return Values{carry[0], carry[1], ys[0], ys[1]};
              },
          .reference =
              [](auto in) {
                Array x = in[0], n = in[1], odds{{5}, {}}, sines{{5, 3}, {}};
                for (int i = 0; i < 5; ++i) {
                  const bool odd = std::fmod(n.data[0], 2) == 1;
                  odds.data.push_back(odd);
                  for (double& element : x.data) {
                    sines.data.push_back(std::sin(element));
                    element = odd ? element * element : element * 0.5;
                  }
                  n.data[0] += i;
                }
                return Arrays{x, n, odds, sines};
              },
          .in_bf16 = false};
}

// sum over i, j of x_i * y_j * w, as a scan in a scan; w is captured by the inner one.
Case nested_case(ScanGradient gradient) {
  return {.name = gradient == ScanGradient::kKeep ? "nested scans" : "nested scans, recomputed",
          .op = "scan",
          .inputs = {f32({3, 2}), f32({2, 2}), f32({2})},
          .build =
              [gradient](auto in) {
                const Value zero = zeros_like(in[2]);
                return scan(3, Values{zero}, in.first(1),
                            [&](const ScanStep& outer) {
                              const Value x = outer.xs[0];
                              const auto inner =
                                  scan(2, outer.carry, in.subspan(1, 1), [&](const ScanStep& step) {
                                    return ScanResult{{step.carry[0] + x * step.xs[0] * in[2]}, {}};
                                  });
                              return ScanResult{inner.carry, {}};
                            },
                            {.gradient = gradient})
                    .carry;
              },
          .reference =
              [](auto in) {
                return Arrays{make_array({2}, [&](const Dims& at) {
                  double sum = 0;
                  for (int64_t i = 0; i < 3; ++i) {
                    for (int64_t j = 0; j < 2; ++j) {
                      sum += in[0].at({i, at[0]}) * in[1].at({j, at[0]}) * in[2].at(at);
                    }
                  }
                  return sum;
                })};
              },
          .bounds = {.bf16_value = 0.1, .bf16_gradient = 0.3}};
}

// Doubles x until it exceeds the limit.
Case while_case() {
  return {.name = "while doubling",
          .op = "while",
          .inputs = {f32({}, 0.5, 1), f32({}, 20, 30), f32({}, 2, 2)},
          .build =
              [](auto in) {
                const Value zero = constant(0, {DType::kI32, {}});
                return while_loop(
                    Values{in[0], zero}, [&](auto carry) { return carry[0] < in[1]; },
                    [&](auto carry) {
                      return Values{carry[0] * in[2], carry[1] + 1};
                    });
              },
          .reference =
              [](auto in) {
                Array x = in[0], rounds{{}, {0}};
                while (x.data[0] < in[1].data[0]) {
                  x.data[0] *= in[2].data[0];
                  rounds.data[0] += 1;
                }
                return Arrays{x, rounds};
              },
          .gradient = Gradient::kUnchecked};
}

Value scan_over(const Shape& carry, const Shape& x, const std::function<Value(const Value&)>& f) {
  return scan(3, Values{parameter("carry", carry)}, Values{parameter("x", x)},
              [&](const ScanStep& step) {
                return ScanResult{{f(step.carry[0])}, {}};
              })
      .carry[0];
}

const Shape kPair{DType::kF32, {2}}, kSteps{DType::kF32, {3, 2}};

}  // namespace

Family control_family() {
  return {
      .name = "Control",
      .cases = {rnn_case("scan", {}), rnn_case("scan in reverse", {.reverse = true}),
                rnn_case("scan, recomputed", {.gradient = ScanGradient::kRecompute}),
                counting_case(), nested_case(ScanGradient::kKeep),
                nested_case(ScanGradient::kRecompute), while_case()},
      .shape_errors =
          {{"scan",
            [] { return scan_over(kPair, kSteps, [](auto c) { return expand_dims(c, 0); }); },
            "scan: carry 0 is f32[2], but f32[1,2] is returned"},
           {"scan", [] { return scan_over(kPair, kPair, [](auto c) { return c; }); },
            "scan: f32[2] has no 3 slices"},
           {"while",
            [] {
              return while_loop(
                  Values{parameter("x", kPair)},
                  [](auto) {
                    return constant(1, {DType::kI1, {}});
                  },
                  [](auto carry) { return Values{convert(carry[0], DType::kBF16)}; })[0];
            },
            "while: carry 0 is f32[2], but bf16[2] is returned"},
           {"while",
            [] {
              return while_loop(
                  Values{parameter("x", kPair)}, [](auto carry) { return carry[0] > 0; },
                  [](auto carry) { return Values{carry[0]}; })[0];
            },
            "while: the condition must be one i1, not i1[2]"}},
      .placements =
          {{"scan",
            [] {
              return scan(3, Values{placed(kPair, sharded(0))}, Values{placed(kSteps, sharded(1))},
                          [](const ScanStep& step) {
                            return ScanResult{{step.carry[0] + step.xs[0]}, {step.carry[0]}};
                          })
                  .ys[0];
            },
            "data: R, tensor: S(1)"},
           {"scan",
            [] {
              return scan(3, Values{parameter("c", kPair)}, Values{placed(kSteps, sharded(1))},
                          [](const ScanStep& step) {
                            return ScanResult{{step.carry[0] + step.xs[0]}, {}};
                          })
                  .carry[0];
            },
            "scan: carry 0 (f32[2]) is placed replicated, but is returned as data: R, tensor: "
            "S(0)"},
           {"while",
            [] {
              return while_loop(
                  Values{placed(kPair, sharded(0))},
                  [](auto) {
                    return constant(1, {DType::kI1, {}});
                  },
                  [](auto carry) { return Values{carry[0] * 2.0}; })[0];
            },
            "data: R, tensor: S(0)"}},
      .without_shape_error = {},
  };
}

size_t count(const std::string& text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// The forward pass alone keeps nothing for a backward pass that does not exist.
TEST(Scan, StacksNothingThatNobodyReads) {
  const Value x = parameter("x", {DType::kF32, {3, 2}}), c = parameter("c", {DType::kF32, {2}});
  const auto [carry, ys] = scan(3, Values{c}, Values{x}, [](const ScanStep& step) {
    const Value next = tanh(step.carry[0] * step.xs[0]);
    return ScanResult{{next}, {exponential(next)}};
  });
  const auto text = [&](const Values& results) {
    return print_module({.parameters = {x, c}, .results = results});
  };
  EXPECT_EQ(count(text({carry[0]}), "stablehlo.dynamic_update_slice"), 0u);
  EXPECT_EQ(count(text({ys[0]}), "stablehlo.dynamic_update_slice"), 1u);
  EXPECT_GT(count(text(gradients(sum_all(carry[0]), Values{x, c})), "dynamic_update_slice"), 1u);
}

// A weight that the step converts is the same in every step: it must not be stacked n times.
TEST(Scan, KeepsNoCopiesOfWhatIsTheSameInEveryStep) {
  const Value x = parameter("x", {DType::kF32, {100, 8}}),
              w = parameter("w", {DType::kF32, {8, 8}});
  const auto [carry, ys] =
      scan(100, Values{zeros_like(parameter("c", {DType::kBF16, {8}}))}, Values{x},
           [&](const ScanStep& step) {
             const Value h = matmul(step.carry[0], convert(w, DType::kBF16));
             return ScanResult{{tanh(h + convert(step.xs[0], DType::kBF16))}, {}};
           });
  const std::string text =
      print_module({.parameters = {x, w},
                    .results = gradients(sum_all(convert(carry[0], DType::kF32)), Values{x, w})});
  EXPECT_THAT(text, Not(HasSubstr("tensor<100x8x8x")));
}

TEST(Scan, RefusesAGradientThatWasDeclinedOrHasNoRule) {
  const Value x = parameter("x", {DType::kF32, {3, 2}}), c = parameter("c", {DType::kF32, {2}});
  const auto body = [](const ScanStep& step) {
    return ScanResult{{step.carry[0] * step.xs[0]}, {}};
  };
  const auto declined = scan(3, Values{c}, Values{x}, body, {.gradient = ScanGradient::kNone});
  EXPECT_THROW(gradients(sum_all(declined.carry[0]), Values{x}), Error);
}

TEST(WhileLoop, HasNoGradientAndSaysSo) {
  const Value x = parameter("x", {DType::kF32, {}});
  const Value y = while_loop(
      Values{x}, [](auto carry) { return carry[0] < 10; },
      [](auto carry) { return Values{carry[0] * 2.0}; })[0];
  try {
    gradients(y, Values{x});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("while: has no gradient (made at control_test.cpp:"));
  }
}

}  // namespace hum::graph::op_test

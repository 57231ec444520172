#include "kernels/matmul/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/testing/refusal.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops.h"
#include "kernels/matmul/matmul_cpu.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Function;
using graph::parameter;
using graph::Shape;
using graph::Value;
using graph::Values;
using hum::testing::message_of;
using runtime::HostTensor;
using ::testing::HasSubstr;

// y = matmul(x, w), and both gradients for a random cotangent.
Function forward_and_backward(Shape x, Shape w, MatmulOptions options) {
  return with_gradients("matmul", {parameter("x", x), parameter("w", w)},
                        [&](auto in) { return kernels::matmul(in[0], in[1], options); });
}

struct Case {
  graph::Dims x, w;
  bool transpose_lhs = false, transpose_rhs = false;
};
const Case kCases[] = {
    {{5, 7}, {7, 3}},
    {{2, 33, 65}, {65, 17}},
    {{2, 3, 4, 31}, {9, 31}, false, true},
    {{65, 130}, {130, 129}},
    {{2, 100, 130}, {70, 130}, false, true},
    {{37, 19}, {37, 23}, true, false},
    {{3, 50, 65}, {3, 50, 41}, true, false},
    {{37, 19}, {23, 37}, true, true},
    {{1, 1}, {1, 1}},
    {{1, 700}, {700, 300}},
    {{1, 300}, {333, 300}, false, true},
    {{3, 1, 257}, {190, 257}, false, true},
    {{400, 384}, {385, 384}, false, true},
};

TEST(Matmul, ValuesAndGradientsAgreeWithPlainOps) {
  HUM_NEEDS(Isa::kAvx2, matmul_isa());
  for (const Case& c : kCases) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      for (const DType result : {DType::kF32, DType::kBF16}) {
        if (dtype == DType::kF32 && result == DType::kBF16) continue;
        const Function function = forward_and_backward({dtype, c.x}, {dtype, c.w},
                                                       {c.transpose_lhs, c.transpose_rhs, result});
        SCOPED_TRACE(
            fmt::format("{} x {}", function.parameters[0].shape(), function.parameters[1].shape()));
        // A bf16 result may round to either neighbour: 1 part in 256.
        // Which products use the kernel depends on the processor; those must run on it.
        expect_kernels_agree(function, random_inputs(function),
                             dtype == DType::kF32 ? 1e-5 : 1.0 / 256, kernel_calls(function));
      }
    }
  }
}

TEST(Matmul, LeavesSmallProductsToPlainOps) {
  const auto calls = [](DType dtype, int64_t rows, int64_t size) {
    const Value x = parameter("x", {dtype, {rows, size}}),
                w = parameter("w", {dtype, {size, size}});
    return kernel_calls({"small", {x, w}, {kernels::matmul(x, w, {.transpose_rhs = true})}, {}})
        .size();
  };
  EXPECT_EQ(calls(DType::kF32, 64, 64), 0u);
  EXPECT_EQ(calls(DType::kBF16, 8, 8), 0u);
  HUM_NEEDS(Isa::kAvx2, matmul_isa());
  EXPECT_EQ(calls(DType::kF32, 512, 512), 1u);
  EXPECT_EQ(calls(DType::kF32, 1, 256), 1u);
  EXPECT_EQ(calls(DType::kF32, 1, 64), 0u);
}

const KernelCalls kForwardAndBothGradients = {"hum.matmul", "hum.matmul", "hum.matmul"};

TEST(Matmul, LargeF32ProductsAndBothGradientsRunOnTheKernel) {
  HUM_NEEDS(Isa::kAvx2, matmul_isa());
  const Function function = forward_and_backward(
      {DType::kF32, {400, 384}}, {DType::kF32, {385, 384}}, {.transpose_rhs = true});
  expect_kernels_agree(function, random_inputs(function), 1e-5, kForwardAndBothGradients);
}

TEST(Matmul, Bf16ProductsAndBothGradientsRunOnTheKernel) {
  HUM_NEEDS(Isa::kAvx512Bf16, matmul_isa());
  const Function function = forward_and_backward(
      {DType::kBF16, {4, 64, 128}}, {DType::kBF16, {96, 128}}, {.transpose_rhs = true});
  expect_kernels_agree(function, random_inputs(function), 1.0 / 256, kForwardAndBothGradients);
  setenv("HUM_KERNELS", "0", 1);
  EXPECT_EQ(kernel_calls(function), KernelCalls());
  unsetenv("HUM_KERNELS");
}

TEST(Matmul, FirstAndSecondDerivativesMatchFiniteDifferences) {
  const Value x = parameter("x", {DType::kF32, {3, 4}}), w = parameter("w", {DType::kF32, {5, 4}});
  const auto loss_of = [&](const Value& a) {
    const Value y = kernels::matmul(a, w, {.transpose_rhs = true});
    return graph::sum_all(y * y * y);
  };
  const Value loss = loss_of(x);
  const Value slope = graph::sum_all(graph::gradients(loss, Values{x})[0] * 0.5);
  const Value curve = graph::gradients(slope, Values{x})[0];
  const Function function{"derivatives", {x, w}, {loss, slope, curve}, {}};
  const auto run = kernel_session().compile("derivatives", function);
  auto inputs = random_inputs(function);
  const auto at = run.run(inputs);
  double wanted_slope = 0;
  for (size_t i = 0; i < 12; ++i) {
    auto shifted = inputs;
    constexpr float kStep = 1e-2F;
    shifted[0].as<float>()[i] += kStep;
    const auto above = run.run(shifted);
    shifted[0].as<float>()[i] -= 2 * kStep;
    const auto below = run.run(shifted);
    const auto difference = [&](size_t result) {
      return (above[result].to_floats()[0] - below[result].to_floats()[0]) / (2 * kStep);
    };
    wanted_slope += 0.5 * difference(0);
    EXPECT_NEAR(at[2].to_floats()[i], difference(1), 2e-2 * std::abs(difference(1)) + 0.05) << i;
  }
  EXPECT_NEAR(at[1].to_floats()[0], wanted_slope, 1e-2 * std::abs(wanted_slope) + 0.05);
}

// XLA runs independent calls concurrently and in any order; each must still get its own operands.
TEST(Matmul, SixtyFourIndependentCallsGetTheRightOperandsEveryTime) {
  HUM_NEEDS(Isa::kAvx512Bf16, matmul_isa());
  constexpr int kCalls = 64, kRuns = 200;
  Values parameters, results;
  for (int i = 0; i < kCalls; ++i) {
    parameters.push_back(parameter(fmt::format("x{}", i), {DType::kBF16, {40, 48}}));
    parameters.push_back(parameter(fmt::format("w{}", i), {DType::kBF16, {56, 48}}));
    results.push_back(kernels::matmul(parameters[parameters.size() - 2], parameters.back(),
                                      {.transpose_rhs = true, .result = DType::kF32}));
  }
  const Function function{"independent", parameters, results, {}};
  const auto inputs = random_inputs(function);
  const auto wanted = plain_session().compile("independent", function).run(inputs);
  KernelCalls each;
  for (int i = 0; i < kCalls; ++i) each.insert("hum.matmul");
  const auto first = run_kernels(function, inputs, each);
  const auto program = kernel_session().compile("independent", function);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto got = first[i].to_floats(), right = wanted[i].to_floats();
    for (size_t j = 0; j < got.size(); ++j) ASSERT_NEAR(got[j], right[j], 1e-3) << i;
  }
  for (int run = 1; run < kRuns; ++run) {
    EXPECT_EQ(program.run(inputs), first) << "run " << run;
  }
}

TEST(Matmul, SameShapeFromFourThreadsIsBitEqual) {
  HUM_NEEDS(Isa::kAvx512Bf16, matmul_isa());
  const Function function = forward_and_backward({DType::kBF16, {4, 48, 80}},
                                                 {DType::kBF16, {72, 80}}, {.transpose_rhs = true});
  const auto inputs = random_inputs(function);
  const auto wanted = run_kernels(function, inputs, kForwardAndBothGradients);
  const auto program = kernel_session().compile("shared", function);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&] {
        for (int i = 0; i < 250; ++i) {
          if (program.run(inputs) != wanted) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Measures how many cores a program of large products keeps busy; exit code 0: at most `limit`.
// Runs in a separate process, since the plugin counts its threads once.
[[noreturn]] void measure_cores_and_exit(double limit) {
  const Value x = parameter("x", {DType::kF32, {768, 768}});
  const Value w = parameter("w", {DType::kF32, {768, 768}});
  Value y = x;
  for (int i = 0; i < 12; ++i) y = kernels::matmul(y, w) * 0.03;
  const Function function{"cores", {x, w}, {y}, {}};
  const auto program = kernel_session().compile("cores", function);
  const auto inputs = random_inputs(function);
  program.run(inputs);
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  for (int i = 0; i < 5; ++i) program.run(inputs);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const double cores = (cpu_seconds() - cpu) / wall.count();
  fmt::print(stderr, "cores: {:.2f}\n", cores);
  _exit(cores <= limit ? 0 : 1);
}

TEST(MatmulDeathTest, OneThreadKeepsOneCoreBusy) {
  HUM_NEEDS(Isa::kAvx2, matmul_isa());
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  setenv("HUM_THREADS", "1", 1);
  EXPECT_EXIT(measure_cores_and_exit(1.15), ::testing::ExitedWithCode(0), "cores: ");
  unsetenv("HUM_THREADS");
}

TEST(Matmul, RefusesWhatDoesNotFitWithBothShapes) {
  const Value x = parameter("x", {DType::kF32, {4, 8}});
  EXPECT_THAT(message_of([&] {
                kernels::matmul(x, parameter("w", {DType::kF32, {9, 3}}));
              }),
              HasSubstr("matmul: contracting sizes differ: lhs f32[4,8], rhs f32[9,3]"));
  EXPECT_THAT(message_of([&] {
                kernels::matmul(x, parameter("w", {DType::kBF16, {8, 3}}));
              }),
              HasSubstr("floats of one type"));
  EXPECT_THAT(message_of([&] {
                kernels::matmul(x, parameter("w", {DType::kF32, {2, 8, 3}}));
              }),
              HasSubstr("rhs must be a matrix"));
  EXPECT_THAT(message_of([&] {
                kernels::matmul(x, parameter("w", {DType::kF32, {5, 3}}), {.transpose_lhs = true});
              }),
              HasSubstr("leading dims differ"));
  EXPECT_THAT(message_of([&] {
                kernels::matmul(x, parameter("w", {DType::kF32, {8, 3}}), {.result = DType::kBF16});
              }),
              HasSubstr("the result must be f32"));
}

}  // namespace
}  // namespace hum::kernels

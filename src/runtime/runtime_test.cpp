// Host tensors, sessions and programs on the real plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>

#include "base/bf16.h"
#include "base/error.h"
#include "base/files.h"
#include "base/threads.h"
#include "graph/ops/elementwise.h"
#include "runtime/compiler_impl.h"
#include "runtime/testing.h"

namespace hum::runtime {
namespace {

using graph::DType;
using graph::Shape;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

// a + b, of four floats each.
graph::Function sum_of_two() {
  const auto a = graph::parameter("a", Shape{DType::kF32, {4}});
  const auto b = graph::parameter("b", Shape{DType::kF32, {4}});
  return {.name = "sum", .parameters = {a, b}, .results = {a + b}};
}

HostTensor four(float first) {
  return HostTensor::of<float>({4}, {first, first + 1, first + 2, first + 3});
}

template <typename Body>
std::string failure(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(HostTensor, ConvertsToAndFromFloats) {
  const std::vector<float> values{0, 1, 2.75f, 100};
  EXPECT_EQ(HostTensor::from_floats(DType::kF32, {4}, values).to_floats(), values);
  EXPECT_THAT(HostTensor::from_floats(DType::kI32, {4}, values).as<int32_t>(),
              ElementsAre(0, 1, 2, 100));
  EXPECT_THAT(HostTensor::from_floats(DType::kU8, {4}, values).to_floats(),
              ElementsAre(0, 1, 2, 100));
  EXPECT_THAT(HostTensor::from_floats(DType::kI1, {4}, values).to_floats(),
              ElementsAre(0, 1, 1, 1));
}

TEST(HostTensor, Bf16RoundsToNearestEven) {
  // 1 + 2^-8 lies between 1 and 1 + 2^-7: to even is down; 1 + 3 * 2^-8: to even is up.
  const std::vector<float> values{1.00390625f, 1.01171875f, -1.00390625f, 3.4e38f, NAN};
  const auto rounded = HostTensor::from_floats(DType::kBF16, {5}, values).to_floats();
  EXPECT_EQ(rounded[0], 1.0f);
  EXPECT_EQ(rounded[1], 1.015625f);
  EXPECT_EQ(rounded[2], -1.0f);
  EXPECT_TRUE(std::isinf(rounded[3]));
  EXPECT_TRUE(std::isnan(rounded[4]));
}

TEST(HostTensor, BecomesF32FromAnyType) {
  const std::vector<float> values{0, 1, 0, 1};
  const auto expected = HostTensor::from_floats(DType::kF32, {2, 2}, values);
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kI32, DType::kU8, DType::kI1}) {
    EXPECT_EQ(HostTensor::from_floats(dtype, {2, 2}, values).to_f32(), expected);
  }
}

TEST(HostTensor, RefusesWrongTypesAndCounts) {
  EXPECT_THAT(failure([] { four(1).as<int32_t>(); }), HasSubstr("f32[4] read as i32"));
  EXPECT_THAT(failure([] {
                HostTensor::of<float>({3}, {1, 2});
              }),
              HasSubstr("2 values for f32[3]"));
}

TEST(RunOnce, AddsTwoTensors) {
  const auto results = run_once(sum_of_two(), std::vector{four(1), four(5)});
  EXPECT_THAT(results[0].as<float>(), ElementsAre(6, 8, 10, 12));
}

TEST(RunOnDevices, GivesEachDeviceItsOwnArguments) {
  const std::vector<std::vector<HostTensor>> inputs{
      {four(0), four(0)}, {four(0), four(1)}, {four(0), four(2)}, {four(0), four(3)}};
  const auto results = run_on_devices(sum_of_two(), inputs);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_THAT(results[0][0].as<float>(), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(results[3][0].as<float>(), ElementsAre(3, 5, 7, 9));
}

TEST(Executable, KeepsStateOnTheDeviceBetweenSteps) {
  Session session;
  auto function = sum_of_two();
  function.donations = {{.parameter = 0, .result = 0}};
  const auto step = session.compile("step", function);
  EXPECT_TRUE(step.parameters()[0].donated);
  Tensor state = session.to_device(four(0));
  const Tensor increment = session.to_device(four(1));
  for (int i = 0; i < 3; ++i) {
    const Tensor before = state;
    state = step.run(std::vector{state, increment})[0];
    EXPECT_TRUE(before.is_deleted());
  }
  EXPECT_FALSE(increment.is_deleted());
  EXPECT_THAT(session.to_host(state).as<float>(), ElementsAre(3, 7, 11, 15));
}

TEST(Executable, DonatedArgumentCannotBeUsedAgain) {
  Session session;
  auto function = sum_of_two();
  function.donations = {{.parameter = 0, .result = 0}};
  const auto step = session.compile("step", function);
  const Tensor state = session.to_device(four(0));
  step.run(std::vector{state, session.to_device(four(1))});
  EXPECT_THAT(failure([&] {
                step.run(std::vector{state, session.to_device(four(1))});
              }),
              HasSubstr("step: argument 0 (a) was deleted: it was donated to an earlier run"));
}

TEST(Executable, DonatedViewOfHostMemoryLeavesThatMemoryAsItWas) {
  constexpr int64_t kMany = 1 << 16;  // large enough to be aligned, so that no copy is made
  const auto many = [](float value) {
    const std::vector<float> values(kMany, value);
    return HostTensor::of({kMany}, std::span<const float>(values));
  };
  const graph::Value a = graph::parameter("a", {DType::kF32, {kMany}});
  const graph::Function triple{.name = "triple",
                               .parameters = {a},
                               .results = {a * 3},
                               .donations = {{.parameter = 0, .result = 0}}};
  Session session;
  const auto program = session.compile("triple", triple);
  const HostTensor host = many(2);
  const Tensor result = program.run(std::vector{session.view_on_device(host)})[0];
  EXPECT_EQ(session.to_host(result), many(6));
  EXPECT_EQ(host, many(2));
}

TEST(Executable, NamesTheArgumentThatDoesNotFit) {
  const auto sum = test_session().compile("sum", sum_of_two());
  EXPECT_THAT(failure([&] { sum.run(std::vector{four(1)}); }),
              HasSubstr("sum: 1 arguments for 2 parameters"));
  const auto wrong = HostTensor::of<float>({2}, {1, 2});
  EXPECT_THAT(failure([&] {
                sum.run(std::vector{four(1), wrong});
              }),
              HasSubstr("sum: argument 1 (b) must be f32[4], got f32[2]"));
  EXPECT_THAT(failure([&] {
                sum.run(std::vector{Tensor(), Tensor()});
              }),
              HasSubstr("argument 0 (a) is empty"));
}

TEST(Executable, RunsFromSeveralThreadsAtOnce) {
  const auto sum = test_session().compile("sum", sum_of_two());
  std::atomic<int> wrong = 0;
  parallel_for(4, 4, [&](int64_t thread) {
    const auto x = static_cast<float>(thread);
    for (int i = 0; i < 50; ++i) {
      const auto result = sum.run(std::vector{four(x), four(0)});
      wrong += result[0] == HostTensor::of<float>({4}, {x, x + 2, x + 4, x + 6}) ? 0 : 1;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Executable, KnowsItsMemory) {
  const auto stats = test_session().compile("sum", sum_of_two()).memory_stats();
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->argument_bytes, 32);
}

TEST(Session, TakesTheNumberOfDevicesFromTheEnvironment) {
  ::setenv("HUM_FAKE_DEVICES", "3", 1);
  const Session session;
  ::unsetenv("HUM_FAKE_DEVICES");
  EXPECT_EQ(session.device_count(), 3);
  EXPECT_EQ(session.platform(), "cpu");
}

TEST(Session, GivesAllCallersTheSameObject) {
  Session session, other;
  int made = 0;
  const auto make = [&] { return std::make_shared<const std::string>(std::to_string(++made)); };
  const auto first = session.shared<std::string>(make);
  EXPECT_EQ(session.shared<std::string>(make), first);
  EXPECT_EQ(*session.shared<int>([] { return std::make_shared<const int>(7); }), 7);
  EXPECT_EQ(*other.shared<std::string>(make), "2");
}

TEST(Session, DumpsEveryModuleNumbered) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("hum-dump-{}", ::getpid());
  ::setenv("HUM_DUMP_IR", folder.c_str(), 1);
  Session session;
  session.compile("coarse/train", sum_of_two());
  session.compile("sum", sum_of_two());
  ::unsetenv("HUM_DUMP_IR");
  EXPECT_THAT(read_file(folder / "0000_coarse_train.mlir"), HasSubstr("func.func public @main"));
  EXPECT_TRUE(std::filesystem::exists(folder / "0001_sum.mlir"));
  std::filesystem::remove_all(folder);
}

TEST(Session, MemoryOptimizedProgramsComputeTheSame) {
  Session session;
  const auto sum = session.compile("sum", sum_of_two(), {.optimize_memory = true});
  EXPECT_THAT(sum.run(std::vector{four(1), four(5)})[0].as<float>(), ElementsAre(6, 8, 10, 12));
}

// XLA has the options of a GPU on every platform, so that their names can be checked without one.
TEST(Session, XlaKnowsTheOptionsOfAGpu) {
  Session session;
  CompileOptions options{.overrides = pjrt_options({}, "cuda").overrides};
  EXPECT_THAT(options.overrides, Contains(Key("xla_allow_excess_precision")));
  session.compile("sum", sum_of_two(), options);
  options.overrides.emplace("xla_allow_excess_precisoin", false);
  EXPECT_THROW(session.compile("sum", sum_of_two(), options), Error);
}

}  // namespace
}  // namespace hum::runtime

// A step on two devices against the same step on one device with both batches.
#include "train/data_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/testing/refusal.h"
#include "graph/ops.h"
#include "runtime/testing.h"

namespace hum::train {
namespace {

using graph::DType;
using graph::Value;
using hum::testing::message_of;
using runtime::HostTensor;
using ::testing::HasSubstr;

constexpr int64_t kRows = 4;

struct Line {
  nn::ParameterList list;
  Value weight = list.declare_hidden("weight", {3, 2}, nn::Init::normal(0.5));
  Value counter = list.declare_buffer("counter", {1}, nn::Init::zeros());
  bool counts = false;  // changes its buffer

  nn::TrainSpec spec(int64_t rows) const {
    return {.name = "line",
            .parameters = &list,
            .batch = {{"x", {DType::kF32, {rows, 3}}}, {"y", {DType::kF32, {rows, 2}}}},
            .loss = [this](std::span<const Value> batch, const nn::StepInputs&) {
              const Value error = graph::matmul(batch[0], weight) - batch[1];
              nn::Loss loss{.total = graph::mean_all(error * error),
                            .metrics = {{"off", graph::mean_all(error)}}};
              if (counts) loss.buffer_updates = {{counter, counter + 1}};
              return loss;
            }};
  }
};

HostTensor random_tensor(const graph::Dims& dims, uint64_t stream) {
  HostTensor tensor({DType::kF32, dims});
  Rng rng(5, "line", stream);
  for (float& value : tensor.as<float>()) value = static_cast<float>(rng.normal());
  return tensor;
}

HostTensor rows_of(const HostTensor& whole, int64_t first) {
  const int64_t width = whole.shape().size(1);
  const auto values = whole.as<float>();
  return HostTensor::of({kRows, width}, std::span<const float>(values.data() + first * width,
                                                               static_cast<size_t>(kRows * width)));
}

// All arguments of a step: random weights, zero moments, batch, step, key and learning rate.
std::vector<HostTensor> arguments(const StepFunction& step, const std::vector<HostTensor>& batch) {
  std::vector<HostTensor> all;
  for (size_t i = 0; i < step.state.size(); ++i) {
    all.push_back(i == 0 ? random_tensor({3, 2}, 0) : HostTensor(step.state[i].shape));
  }
  all.insert(all.end(), batch.begin(), batch.end());
  all.push_back(HostTensor::scalar<int32_t>(0));
  all.push_back(HostTensor::of<uint32_t>({2}, {1, 2}));
  all.push_back(HostTensor::scalar(0.1F));
  return all;
}

void expect_step_of_one_device(const OptimizerConfig& config, double tolerance) {
  const Line line;
  const HostTensor x = random_tensor({2 * kRows, 3}, 1), y = random_tensor({2 * kRows, 2}, 2);
  const StepFunction whole = step_function(line.spec(2 * kRows), config);
  const auto wanted = runtime::run_once(whole.function, arguments(whole, {x, y}));

  const StepFunction part = data_parallel_step(line.spec(kRows), config, {}, 2).step;
  std::vector<std::vector<HostTensor>> inputs;
  for (int32_t device = 0; device < 2; ++device) {
    const int64_t first = device * kRows;
    inputs.push_back(arguments(part, {rows_of(x, first), rows_of(y, first)}));
    inputs.back().push_back(HostTensor::scalar(device));
  }
  const auto got = runtime::run_on_devices(part.function, inputs);
  for (const auto& results : got) {
    ASSERT_EQ(results.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto ours = results[i].to_floats(), theirs = wanted[i].to_floats();
      for (size_t e = 0; e < ours.size(); ++e) {
        EXPECT_NEAR(ours[e], theirs[e], tolerance * std::abs(theirs[e]) + 1e-7) << i;
      }
    }
  }
  EXPECT_EQ(got[0], got[1]) << "devices make the same update";
}

TEST(DataParallelStep, IsTheStepOfOneDeviceWithAllBatches) { expect_step_of_one_device({}, 1e-5); }

// Orthogonalising amplifies differences of gradients along small singular values.
TEST(DataParallelStep, IsTheStepOfOneDeviceUnderMuonWithRunningMeans) {
  expect_step_of_one_device(
      {.kind = OptimizerKind::kMuon, .muon = {.bf16_products = false}, .ema = 0.9}, 1e-4);
}

TEST(DataParallelStep, RefusesBuffersThatDevicesWouldHoldDifferently) {
  Line line;
  line.counts = true;
  EXPECT_NO_THROW(data_parallel_step(line.spec(kRows), {}, {}, 1));
  EXPECT_THAT(message_of([&] { data_parallel_step(line.spec(kRows), {}, {}, 2); }),
              HasSubstr("line changes buffers"));
}

}  // namespace
}  // namespace hum::train

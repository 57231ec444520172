// A small model for tests of training: two hidden layers (one stack, if wanted), a head with a
// bias, inputs that are dropped at random in training, and a buffer that counts steps.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "graph/ops.h"
#include "nn/model_spec.h"
#include "runtime/host_tensor.h"
#include "train/training_step.h"

namespace hum::train::testing {

constexpr int64_t kRows = 16, kWidth = 8, kOut = 3;

struct HiddenLayers {
  bool stacked = false;
  nn::ParameterList list = {};
  graph::Value first = list.declare_hidden("layers.0.weight", {kWidth, kWidth}, normal());
  graph::Value second = list.declare_hidden("layers.1.weight", {kWidth, kWidth}, normal());
  graph::Value head = list.declare("head.weight", {kWidth, kOut}, normal());
  graph::Value bias = list.declare("head.bias", {kOut}, nn::Init::zeros());
  graph::Value counter = list.declare_buffer("counter", {1}, nn::Init::zeros());

  nn::TrainSpec spec() const {
    using graph::DType;
    return {.name = "hidden",
            .parameters = &list,
            .batch = {{"x", {DType::kF32, {kRows, kWidth}}}, {"y", {DType::kF32, {kRows, kOut}}}},
            .loss = [this](std::span<const graph::Value> batch,
                           const nn::StepInputs& step) { return loss(batch, step); },
            .units_per_batch = kRows};
  }

 private:
  static nn::Init normal() { return nn::Init::normal(0.4); }

  nn::Loss loss(std::span<const graph::Value> batch, const nn::StepInputs& step) const {
    const graph::Value draw = graph::uniform(batch[0].shape(), step.key);
    const graph::Value kept =
        graph::convert(draw >= (step.is_training ? 0.25 : 0), graph::DType::kF32);
    graph::Values layers = {first, second};
    if (stacked) {
      const graph::Value stack = graph::stack(layers, 0);
      for (int64_t i = 0; i < 2; ++i) {
        layers[static_cast<size_t>(i)] =
            graph::reshape(graph::slice_in_dim(stack, 0, i, i + 1), {kWidth, kWidth});
      }
    }
    graph::Value x = batch[0] * kept;
    for (const graph::Value& layer : layers) x = graph::matmul(x, layer);
    const graph::Value error = graph::matmul(x, head) + bias - batch[1];
    return {.total = graph::mean_all(error * error),
            .metrics = {{"distance", graph::mean_all(graph::abs(error))}},
            .buffer_updates = {{counter, counter + 1}}};
  }
};

// A batch of y = 0.7 x - 0.4 x' + 0.1, where x' are the elements one place on.
inline std::vector<runtime::HostTensor> hidden_batch(int64_t step, const char* stream = "batch") {
  using graph::DType;
  runtime::HostTensor x({DType::kF32, {kRows, kWidth}}), y({DType::kF32, {kRows, kOut}});
  Rng rng(1, stream, static_cast<uint64_t>(step));
  for (float& value : x.as<float>()) value = static_cast<float>(rng.normal());
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kOut; ++c) {
      const float* row = &x.as<float>()[r * kWidth];
      y.as<float>()[r * kOut + c] = 0.7F * row[c] - 0.4F * row[c + 1] + 0.1F;
    }
  }
  return {x, y};
}

inline std::map<std::string, runtime::HostTensor> by_name(const std::vector<NamedTensor>& tensors) {
  std::map<std::string, runtime::HostTensor> result;
  for (const auto& [name, tensor] : tensors) result[name] = tensor;
  return result;
}

}  // namespace hum::train::testing

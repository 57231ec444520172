// Models with their start and their batches, as golden training runs tell them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "models/humming/coarse.h"
#include "models/llama/checkpoint_map.h"
#include "models/llama/model.h"
#include "tests/parity/training_golden.h"

namespace hum {

// x[t + 1] = 3 x[t] + one of four. Shapes: -> [B, T].
inline std::vector<int32_t> pattern(const TrainingGolden& golden, int64_t step, int64_t length) {
  const int64_t batch = golden.number("batch");
  const auto alphabet = static_cast<int32_t>(golden.number("alphabet"));
  const auto at = static_cast<uint64_t>(step);
  const auto choice = runtime::golden_integers(golden.seed(), "choice", {batch, length}, 4, at);
  const auto start = runtime::golden_integers(golden.seed(), "start", {batch},
                                              static_cast<uint32_t>(alphabet), at);
  std::vector<int32_t> tokens;
  for (int64_t b = 0; b < batch; ++b) {
    int32_t x = start.as<int32_t>()[static_cast<size_t>(b)];
    for (int64_t t = 0; t < length; ++t) {
      const int32_t chosen = choice.as<int32_t>()[static_cast<size_t>(b * length + t)];
      if (t > 0) x = (3 * x + chosen) % alphabet;
      tokens.push_back(x);
    }
  }
  return tokens;
}

// A model with its start and its batches, as the golden file tells.
struct TrainingRun {
  virtual ~TrainingRun() = default;
  virtual nn::TrainSpec spec(graph::DType compute) const = 0;
  virtual std::vector<runtime::HostTensor> batch(int64_t step) const = 0;
  virtual std::string golden_name(const std::string& name) const = 0;
  virtual runtime::GoldenRange range(const nn::Parameter& parameter) const = 0;

  explicit TrainingRun(const std::string& name) : golden(name) {}
  std::vector<train::NamedTensor> initial(const nn::ParameterList& parameters) const {
    std::vector<train::NamedTensor> tensors;
    for (const auto& parameter : parameters.all()) {
      tensors.push_back(
          {parameter.name, runtime::golden_tensor(golden.seed(), golden_name(parameter.name),
                                                  parameter.shape.dims, range(parameter))});
    }
    return tensors;
  }
  TrainingGolden golden;
};

struct LlamaRun : TrainingRun {
  explicit LlamaRun(const std::string& name = "llama") : TrainingRun(name) {}
  models::llama::Llama model{
      models::llama::from_hugging_face(parse_json(golden.metadata.at("config")))};

  nn::TrainSpec spec(graph::DType compute) const override {
    return model.train_spec(
        {.batch = golden.number("batch"), .frames = golden.number("length"), .compute = compute});
  }
  std::vector<runtime::HostTensor> batch(int64_t step) const override {
    const int64_t count = golden.number("batch"), length = golden.number("length");
    const auto draws = runtime::golden_integers(golden.seed(), "draw", {count, length + 1}, 65536,
                                                static_cast<uint64_t>(step));
    std::vector<int32_t> tokens;
    for (const int64_t r : draws.as<int32_t>()) {
      const int64_t square = r * r >> 16;
      tokens.push_back(
          static_cast<int32_t>((square * square >> 16) * model.config().vocabulary >> 16));
    }
    std::vector<int32_t> inputs, targets;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto t = static_cast<int64_t>(i) % (length + 1);
      if (t < length) inputs.push_back(tokens[i]);
      if (t > 0) targets.push_back(tokens[i]);
    }
    return {runtime::HostTensor::of({count, length}, std::span<const int32_t>(inputs)),
            runtime::HostTensor::of({count, length}, std::span<const int32_t>(targets))};
  }
  std::string golden_name(const std::string& name) const override {
    return models::llama::hugging_face_name(name);
  }
  runtime::GoldenRange range(const nn::Parameter& parameter) const override {
    return parameter.shape.rank() == 1 ? runtime::GoldenRange{0.1, 1}
                                       : runtime::GoldenRange{0.035, 0};
  }
};

inline models::humming::CoarseConfig coarse_config(const TrainingGolden& golden) {
  models::humming::CoarseConfig config;
  from_json(parse_json(golden.metadata.at("config")), config);
  return config;
}

struct CoarseRun : TrainingRun {
  CoarseRun() : TrainingRun("coarse") {}
  models::humming::Coarse model{coarse_config(golden)};

  nn::TrainSpec spec(graph::DType compute) const override {
    return model.train_spec({.batch = golden.number("batch"),
                             .frames = golden.number("length"),
                             .reference_frames = golden.number("reference"),
                             .compute = compute});
  }
  std::vector<runtime::HostTensor> batch(int64_t step) const override {
    const auto& common = model.config().common;
    const int64_t count = golden.number("batch"), frames = golden.number("length");
    const auto at = static_cast<uint64_t>(step);
    runtime::HostTensor codes({graph::DType::kI32, {count, frames, common.books}});
    const auto first = pattern(golden, step, frames);
    for (size_t i = 0; i < first.size(); ++i) {
      codes.as<int32_t>()[i * static_cast<size_t>(common.books)] = first[i];
    }
    auto noise = [&](const char* name, int64_t length, int64_t size) {
      return runtime::golden_tensor(golden.seed(), name, {count, length, size}, {1, 0}, at);
    };
    const int64_t reference = golden.number("reference");
    auto there = runtime::golden_integers(golden.seed(), "frames", {count}, 31, at);
    for (int32_t& value : there.as<int32_t>()) value += 20;
    return {codes, noise("melody", frames, common.melody_features),
            noise("reference", reference, common.latent), there,
            noise("draft", frames, common.latent)};
  }
  std::string golden_name(const std::string& name) const override { return name; }
  runtime::GoldenRange range(const nn::Parameter& parameter) const override {
    const std::string& name = parameter.name;
    if (name == "codebooks") return {1, 0};
    if (parameter.shape.rank() == 1) {
      const bool is_scale = name.ends_with("norm.weight") || name.ends_with("residual_scale");
      return {0.1, is_scale ? 1.0 : 0.0};
    }
    if (!name.starts_with("conditions.")) return {0.035, 0};
    const int64_t fan_in = parameter.shape.size(name.ends_with("conv.weight") ? 0 : 1);
    return {std::sqrt(3 / static_cast<double>(fan_in)), 0};
  }
};

}  // namespace hum

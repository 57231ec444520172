// A training run that PyTorch made and tools/golden/training.py stored, and the comparison of hum's
// with it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fields_json.h"
#include "base/folders.h"
#include "base/safetensors.h"
#include "runtime/testing.h"
#include "runtime/weights.h"
#include "train/training_step.h"

namespace hum {

struct TrainingGolden {
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::vector<float>> arrays;

  explicit TrainingGolden(const std::string& name) {
    const auto file = source_folder() / "tests/data/training" / (name + ".safetensors");
    metadata = SafetensorsFile::read(file).metadata();
    for (const auto& [key, tensor] : runtime::read_tensors(file)) arrays[key] = tensor.to_floats();
  }
  int64_t number(const std::string& key) const { return std::stoll(metadata.at(key)); }
  uint64_t seed() const { return static_cast<uint64_t>(number("seed")); }
  train::OptimizerConfig optimizer() const {
    train::OptimizerConfig config;
    from_json(parse_json(metadata.at("optimizer")), config);
    return config;
  }
};

// Elements at equal distances, as the golden tool takes them.
inline std::vector<float> samples(const std::vector<float>& values, size_t count) {
  std::vector<float> taken;
  for (size_t i = 0; i < count; ++i) taken.push_back(values[i * values.size() / count]);
  return taken;
}

// What a run's tensors are called in the golden file: hum's name -> the file's.
using NameMap = std::function<std::string(const std::string&)>;

// The first step's gradients, which the means of AdamW hold times (1 - beta1) and the clipping.
inline void expect_gradients(const TrainingGolden& golden, const train::Trainer& trainer,
                             double norm, const NameMap& name_of) {
  const auto config = golden.optimizer();
  const double scale = (1 - config.beta1) * std::min(1.0, config.clip_norm / (norm + 1e-6));
  EXPECT_NEAR(norm, golden.arrays.at("gradient_norm")[0], 1e-5 * norm);
  double worst = 0;
  size_t compared = 0;
  for (const auto& [name, tensor] : trainer.state()) {
    if (!name.starts_with("m.")) continue;
    const std::string key = "g." + name_of(name.substr(2));
    const auto& wanted = golden.arrays.at(key);
    const double largest = golden.arrays.at("max." + key)[0];
    const auto got = samples(tensor.to_floats(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double apart = std::abs(double{got[i]} / scale - double{wanted[i]});
      EXPECT_LE(apart, 1e-5 * largest) << key << " sample " << i;
      if (largest > 0) worst = std::max(worst, apart / largest);
    }
    ++compared;
  }
  EXPECT_GT(compared, 10U);
  ::testing::Test::RecordProperty("gradients_apart", fmt::format("{:.2e}", worst));
}

// Parameters and moments after the last step: within `bound` of each tensor's maximum, or three
// times as far as PyTorch in f32 is from PyTorch in f64.
inline void expect_states(const TrainingGolden& golden, const train::Trainer& trainer, double bound,
                          const NameMap& name_of) {
  std::map<char, double> worst;
  for (const auto& [name, tensor] : trainer.state()) {
    const std::string key = name.substr(0, 2) + name_of(name.substr(2));
    if (!golden.arrays.contains(key)) continue;  // buffers
    const auto& wanted = golden.arrays.at(key);
    const double largest = golden.arrays.at("max." + key)[0];
    const double allowed = std::max(bound * largest, 3.0 * golden.arrays.at("spread." + key)[0]);
    const auto got = samples(tensor.to_floats(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double apart = std::abs(double{got[i]} - double{wanted[i]});
      EXPECT_LE(apart, allowed) << key << " sample " << i;
      if (largest > 0) worst[name[0]] = std::max(worst[name[0]], apart / largest);
    }
  }
  for (const auto& [kind, apart] : worst) {
    ::testing::Test::RecordProperty(std::string("state_apart_") + kind,
                                    fmt::format("{:.2e}", apart));
  }
}

// How far a loss may be from PyTorch's in f64, relative: 1e-4, or three times as far as PyTorch in
// f32 has come from it up to that step.
inline std::vector<double> loss_bounds(const TrainingGolden& golden) {
  const auto& exact = golden.arrays.at("loss");
  std::vector<double> bounds;
  double spread = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    for (const char* run : {"loss_f32", "loss_f32_nudged"}) {
      spread = std::max(spread, std::abs(double{golden.arrays.at(run)[i]} / double{exact[i]} - 1));
    }
    bounds.push_back(std::max(1e-4, 3 * spread));
  }
  return bounds;
}

}  // namespace hum

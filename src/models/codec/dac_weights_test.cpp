// Reads the published weight files in every form, and rejects wrong ones with the tensor's name.
#include "models/codec/dac_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/fields_json.h"
#include "models/codec/dac.h"
#include "models/codec/dac_test_weights.h"
#include "runtime/weights.h"

namespace hum::models::codec {
namespace {

namespace fs = std::filesystem;
using runtime::HostTensor;
using ::testing::HasSubstr;

// A folder as tools/convert_dac.py writes it, for the small model of odd rates.
class DacFolder : public ::testing::Test {
 protected:
  DacFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::path(::testing::TempDir()) / (std::string("hum-dac-") + test->name());
    const Json golden = dac_golden("small.json").at("odd");
    from_json(golden.at("model"), config);
    stored.config = {{"model_type", "dac"}, {"model", golden.at("model")}};
    for (const auto& [name, dims] : golden.at("shapes").items()) {
      const auto sizes = dims.get<graph::Dims>();
      stored.tensors.emplace_back(name, dac_test_weight("odd", config, name, sizes));
    }
  }
  ~DacFolder() override { fs::remove_all(folder); }

  HostTensor& tensor(const std::string& name) {
    for (auto& [own, value] : stored.tensors) {
      if (own == name) return value;
    }
    throw std::runtime_error("no tensor " + name);
  }
  // Replaces `from` by `to` in every name.
  void rename(const std::string& from, const std::string& to) {
    for (auto& [name, unused] : stored.tensors) {
      const size_t at = name.find(from);
      if (at != std::string::npos) name.replace(at, from.size(), to);
    }
  }
  DacCheckpoint read(DacWeights weights = DacWeights::kFolded) {
    runtime::write_weights(folder, stored, graph::DType::kF32);
    return read_dac(folder, weights);
  }
  std::string refusal() {
    try {
      read();
    } catch (const Error& error) {
      const std::string text = error.message();
      return text.substr(text.find(": ") + 2);
    }
    return "nothing";
  }

  fs::path folder;
  DacConfig config;
  runtime::Weights stored;
};

TEST_F(DacFolder, GivesTheMagnitudesAndDirectionsAsTheyStand) {
  const DacCheckpoint read = this->read(DacWeights::kWeightNorm);
  const Dac dac(read.config, DacWeights::kWeightNorm);
  const auto& parameters = dac.parameters().all();
  ASSERT_EQ(read.tensors.size(), stored.tensors.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_EQ(read.tensors[i], tensor(parameters[i].name)) << parameters[i].name;
  }
}

TEST_F(DacFolder, FoldsWeightNorm) {
  const DacCheckpoint read = this->read();
  const Dac dac(read.config);
  const auto& parameters = dac.parameters().all();
  int folded = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i].name;
    if (!name.ends_with(".weight") || name.ends_with("codebook.weight")) continue;
    const auto kernel = read.tensors[i].as<float>();
    const auto g = tensor(name + "_g").as<float>(), v = tensor(name + "_v").as<float>();
    const size_t row = v.size() / g.size();
    double square = 0;
    for (size_t e = 0; e < row; ++e) square += static_cast<double>(v[e]) * v[e];
    EXPECT_NEAR(kernel[row - 1], g[0] * v[row - 1] / std::sqrt(square), 1e-6) << name;
    ++folded;
  }
  EXPECT_EQ(folded, 38);
}

TEST_F(DacFolder, KnowsTheNamesOfNewerPyTorch) {
  const DacCheckpoint before = read();
  rename(".weight_g", ".parametrizations.weight.original0");
  rename(".weight_v", ".parametrizations.weight.original1");
  EXPECT_EQ(read().tensors, before.tensors);
}

TEST_F(DacFolder, TakesKernelsThatAreFoldedAlready) {
  const DacCheckpoint before = read();
  const Dac dac(config);
  stored.tensors.clear();
  for (size_t i = 0; i < before.tensors.size(); ++i) {
    stored.tensors.emplace_back(dac.parameters().all()[i].name, before.tensors[i]);
  }
  EXPECT_EQ(read().tensors, before.tensors);
}

TEST_F(DacFolder, RefusesAMissingTensor) {
  rename("encoder.block.1.block.0.block.1.weight_v", "elsewhere");
  EXPECT_EQ(refusal(), "no tensor 'encoder.block.1.block.0.block.1.weight_v'");
}

TEST_F(DacFolder, RefusesAnotherShape) {
  tensor("decoder.model.0.bias") = HostTensor::of<float>({2}, {0, 0});
  EXPECT_EQ(refusal(), "tensor 'decoder.model.0.bias' is f32[2], the model needs f32[20]");
}

TEST_F(DacFolder, RefusesATensorOfNoUse) {
  stored.config["model"]["n_codebooks"] = 2;
  EXPECT_EQ(refusal(),
            "the model has no place for tensor 'quantizer.quantizers.2.codebook.weight'");
}

TEST_F(DacFolder, RefusesADirectionOfZeros) {
  tensor("encoder.block.0.weight_v") = HostTensor(graph::Shape{graph::DType::kF32, {4, 1, 7}});
  EXPECT_EQ(refusal(), "'encoder.block.0.weight_v' has no direction at index 0");
}

TEST_F(DacFolder, RefusesAnotherModelsConfig) {
  stored.config["model_type"] = "hum-codec";
  EXPECT_EQ(refusal(), "config.json has model_type 'hum-codec'; expected 'dac'");
}

TEST_F(DacFolder, RefusesAPickleAndNamesTheTool) {
  const fs::path pickle = fs::path(::testing::TempDir()) / "hum-dac-weights.pth";
  std::ofstream(pickle) << "PK\x03\x04";
  try {
    read_dac(pickle);
    ADD_FAILURE() << "read a pickle";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_THAT(error.hint(), HasSubstr("tools/convert_dac.py"));
  }
  fs::remove(pickle);
}

}  // namespace
}  // namespace hum::models::codec

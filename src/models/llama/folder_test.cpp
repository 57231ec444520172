// Reads Hugging Face folders, writes them back byte for byte, and rejects wrong ones by name.
#include "models/llama/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "models/llama/llama_session.h"
#include "models/llama/test_golden.h"

namespace hum::models::llama {
namespace {

namespace fs = std::filesystem;
using graph::DType;
using runtime::HostTensor;

// As transformers' save_pretrained wrote it: two shards, bf16, a tokenizer.
fs::path given() { return golden_folder() / "checkpoint"; }

// A copy of that folder, to be damaged.
class LlamaFolder : public ::testing::Test {
 protected:
  fs::path base = fs::temp_directory_path() / fmt::format("hum-llama-{}", ::getpid());
  fs::path folder = base / "model";

  void SetUp() override {
    fs::create_directories(base);
    fs::copy(given(), folder);
  }
  void TearDown() override { fs::remove_all(base); }

  std::vector<fs::path> shards() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".safetensors") found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }
  void edit_config(const char* field, const Json& value) const {
    Json config = read_json(folder / "config.json");
    config[field] = value;
    write_json(folder / "config.json", config);
  }
  // Rewrites the shard that holds `name`.
  void edit_tensor(const std::string& name, const std::function<void(HostTensor&)>& edit) const {
    for (const auto& shard : shards()) {
      auto tensors = runtime::read_tensors(shard);
      for (auto& [found, tensor] : tensors) {
        if (found != name) continue;
        edit(tensor);
        runtime::write_tensors(shard, tensors);
        return;
      }
    }
    FAIL() << name;
  }
  void expect_refused(const std::string& text, ExitCode code = ExitCode::kBadData) const {
    try {
      read_checkpoint(folder);
      FAIL() << "was read, but should be refused: " << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
      EXPECT_EQ(error.code(), code) << error.what();
    }
  }
};

TEST_F(LlamaFolder, SaysWhatTransformersSays) {
  const Golden golden(golden_folder() / "checkpoint.safetensors");
  const LlamaSession session(runtime::test_session(), folder);
  const auto logits = session.logits(golden.prompt);
  ASSERT_EQ(logits.size(), golden.logits_f32.size());
  for (size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], golden.logits_f32[i], 1e-4);
}

TEST_F(LlamaFolder, GenerationStopsAfterAnEndToken) {
  const Golden golden(golden_folder() / "checkpoint.safetensors");
  Checkpoint checkpoint = read_checkpoint(folder);
  EXPECT_EQ(checkpoint.config.end_tokens, std::vector<int64_t>{7});
  const size_t stop = 9;
  checkpoint.config.end_tokens = {golden.greedy[stop]};
  const LlamaSession session(runtime::test_session(), checkpoint, DType::kF32);
  const auto first = std::ranges::find(golden.greedy, golden.greedy[stop]);
  EXPECT_EQ(session.generate(golden.prompt, 64), std::vector(golden.greedy.begin(), first + 1));
  EXPECT_EQ(session.generate(golden.prompt, 2),
            std::vector(golden.greedy.begin(), golden.greedy.begin() + 2));
}

TEST_F(LlamaFolder, IsWrittenBackAsItWas) {
  const fs::path copy = base / "copy";
  write_checkpoint(copy, read_checkpoint(folder), DType::kBF16, folder);
  EXPECT_EQ(read_json(copy / "config.json"), read_json(folder / "config.json"));
  for (const char* file : {"tokenizer.json", "tokenizer_config.json", "generation_config.json"}) {
    EXPECT_EQ(read_file(copy / file), read_file(folder / file)) << file;
  }
  auto sorted = [](const fs::path& at) {
    auto tensors = runtime::read_weights(at).tensors;
    std::ranges::sort(tensors, {}, &runtime::NamedTensors::value_type::first);
    return tensors;
  };
  const auto before = sorted(folder), after = sorted(copy);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].first, after[i].first);
    EXPECT_EQ(before[i].second, after[i].second) << before[i].first;
  }
}

TEST_F(LlamaFolder, ShardsAndF32HoldTheSameModel) {
  const fs::path copy = base / "copy";
  const Checkpoint checkpoint = read_checkpoint(folder);
  write_checkpoint(copy, checkpoint, DType::kF32, {}, 20'000);
  EXPECT_TRUE(fs::exists(copy / "model.safetensors.index.json"));
  EXPECT_EQ(read_json(copy / "config.json").at("dtype"), "float32");
  EXPECT_EQ(read_checkpoint(copy).tensors, checkpoint.tensors);
}

TEST_F(LlamaFolder, ConfigurationsOfOurOwnAreReadBackTheSame) {
  for (const char* name : {"mha", "gqa_tied", "biases", "linear", "llama3", "yarn_mscale"}) {
    const Golden golden(golden_folder() / (std::string(name) + ".safetensors"));
    LlamaConfig config = from_hugging_face(golden.source);
    LlamaConfig again = from_hugging_face(to_hugging_face(config));
    EXPECT_EQ(to_json(config), to_json(again)) << name;
  }
}

TEST_F(LlamaFolder, FoldersWithOtherFilesAreNotReplaced) {
  const fs::path other = base / "music";
  fs::create_directories(other);
  std::ofstream(other / "song.wav") << "x";
  EXPECT_THROW(write_checkpoint(other, read_checkpoint(folder), DType::kBF16), Error);
  EXPECT_TRUE(fs::exists(other / "song.wav"));
}

TEST_F(LlamaFolder, AMissingShardIsNamed) {
  const fs::path lost = shards()[1];
  fs::remove(lost);
  expect_refused("shard '" + lost.filename().string() + "' is missing", ExitCode::kNoInput);
}

TEST_F(LlamaFolder, AShardOutsideTheFolderIsRefused) {
  Json index = read_json(folder / "model.safetensors.index.json");
  index["weight_map"].begin().value() = "../other/model.safetensors";
  write_json(folder / "model.safetensors.index.json", index);
  expect_refused("'../other/model.safetensors'");
}

TEST_F(LlamaFolder, AMissingTensorIsNamed) {
  auto tensors = runtime::read_tensors(shards()[0]);
  const std::string name = tensors.back().first;
  tensors.pop_back();
  runtime::write_tensors(shards()[0], tensors);
  expect_refused("no tensor '" + name + "'");
}

TEST_F(LlamaFolder, AnUnknownTensorIsNamed) {
  auto tensors = runtime::read_tensors(shards()[0]);
  tensors.emplace_back("model.layers.0.router.weight", HostTensor({DType::kF32, {2}}));
  runtime::write_tensors(shards()[0], tensors);
  expect_refused("unknown tensor 'model.layers.0.router.weight'");
}

TEST_F(LlamaFolder, AWrongShapeIsNamed) {
  const std::string name = "model.layers.1.self_attn.k_proj.weight";
  edit_tensor(name, [](HostTensor& t) { t = HostTensor({DType::kBF16, {32, 32}}); });
  expect_refused("tensor '" + name + "' is bf16[32,32], config.json requires f32[16,32]");
}

TEST_F(LlamaFolder, NanIsNamed) {
  const std::string name = "model.layers.0.mlp.up_proj.weight";
  edit_tensor(name, [](HostTensor& t) { t.as<uint16_t>()[5] = 0x7FC0; });
  expect_refused("tensor '" + name + "' holds nan at element 5");
}

TEST_F(LlamaFolder, APickleIsRefusedUnopened) {
  for (const auto& shard : shards()) fs::remove(shard);
  fs::remove(folder / "model.safetensors.index.json");
  std::ofstream(folder / "pytorch_model.bin") << "PK\x03\x04";
  expect_refused("pytorch_model.bin: a pickle file");
  fs::rename(folder / "pytorch_model.bin", folder / "model.safetensors");
  expect_refused("model.safetensors: a pickle file");
  fs::remove(folder / "model.safetensors");
  expect_refused("no model.safetensors", ExitCode::kNoInput);
}

TEST_F(LlamaFolder, ADamagedShardIsRefused) {
  fs::resize_file(shards()[0], fs::file_size(shards()[0]) - 10);
  expect_refused(shards()[0].filename().string());
}

struct BadField {
  const char* field;
  Json value;
  const char* text;
};
class LlamaBadConfig : public LlamaFolder, public ::testing::WithParamInterface<BadField> {};
TEST_P(LlamaBadConfig, IsNamed) {
  edit_config(GetParam().field, GetParam().value);
  expect_refused(GetParam().text);
}
INSTANTIATE_TEST_SUITE_P(
    Fields, LlamaBadConfig,
    ::testing::Values(
        BadField{"architectures", {"GPT2LMHeadModel"}, "GPT2LMHeadModel"},
        BadField{"model_type", "mamba", "model_type 'mamba'"},
        BadField{"hidden_act", "gelu", "hidden_act is 'gelu'"},
        BadField{"hidden_size", -4, "field 'hidden_size' is -4"},
        BadField{"hidden_size", "big", "field 'hidden_size' is \"big\""},
        BadField{"vocab_size", nullptr, "no field 'vocab_size'"},
        BadField{"num_key_value_heads", 3, "num_key_value_heads 3"},
        BadField{"rope_parameters", {{"rope_type", "longrope"}}, "rope_type is 'longrope'"},
        BadField{"rope_parameters", {{"rope_type", "linear"}}, "field 'factor' is null"},
        BadField{"rms_norm_eps", -1, "field 'rms_norm_eps' is -1"},
        BadField{"quantization_config", {{"bits", 4}}, "quantised"}),
    [](const auto& info) { return fmt::format("{}{}", info.param.field, info.index); });

TEST(LlamaSession, TokensOutsideTheModelAreRefused) {
  const Golden golden(golden_folder() / "dynamic.safetensors");
  const LlamaSession session(runtime::test_session(), golden_checkpoint(golden.source, golden.seed),
                             DType::kF32);
  const std::vector<int32_t> fine = {1, 2}, unknown = {1, 96};
  EXPECT_THROW(session.logits({}), Error);
  EXPECT_THROW(session.logits(unknown), Error);
  EXPECT_THROW(session.generate(fine, 0), Error);
  EXPECT_THROW(session.generate(fine, 127), Error) << "dynamic rotary scaling begins at 128";
}

}  // namespace
}  // namespace hum::models::llama

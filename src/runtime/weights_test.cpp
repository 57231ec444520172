// Weights folders: half precision read as f32, missing shards named; and the numbers of golden
// tests.
#include "runtime/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/hash.h"
#include "base/safetensors.h"
#include "runtime/bind.h"
#include "runtime/testing.h"

namespace hum::runtime {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("hum-weights-{}", ::getpid());
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

TEST(ReadTensors, HalvesBecomeF32) {
  const Folder folder;
  // 1, -2, the largest, the smallest, 0.1 rounded, -0, infinity, not a number.
  const uint16_t bits[] = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x2E66, 0x8000, 0x7C00, 0x7E00};
  const SafeTensor tensor{"x", "F16", {8}, std::as_bytes(std::span(bits))};
  write_safetensors(folder.path / "x.safetensors", std::span(&tensor, 1));
  const auto values = read_tensors(folder.path / "x.safetensors")[0].second.to_floats();
  const float wanted[] = {1, -2, 65504, 0x1p-24F, 0.0999755859375F, -0.0F, INFINITY};
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(values[i], wanted[i]) << i;
  EXPECT_TRUE(std::signbit(values[5]));
  EXPECT_TRUE(std::isnan(values[7]));
}

TEST(ReadWeights, AMissingShardIsNamed) {
  const Folder folder;
  Weights weights{{{"a", 1}}, {}};
  for (const char* name : {"one", "two"}) {
    weights.tensors.emplace_back(name, HostTensor({graph::DType::kF32, {100}}));
  }
  write_weights(folder.path, weights, graph::DType::kF32, 400);
  EXPECT_EQ(read_weights(folder.path).tensors.size(), 2U);
  fs::remove(folder.path / "model-00002-of-00002.safetensors");
  try {
    read_weights(folder.path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr("'model-00002-of-00002.safetensors' is missing"));
    EXPECT_EQ(error.code(), ExitCode::kNoInput);
  }
}

// What reading the weights throws.
std::string refusal(const fs::path& folder) {
  try {
    read_weights(folder);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_FALSE(error.hint().empty());
    return error.message();
  }
  return "nothing was thrown";
}

TEST(ReadWeights, AFlippedBitIsFoundByTheChecksum) {
  const Folder folder;
  Weights weights{{{"a", 1}}, {}};
  weights.tensors.emplace_back("one", HostTensor({graph::DType::kF32, {100}}));
  write_weights(folder.path, weights);
  const fs::path file = folder.path / "model.safetensors", sums = folder.path / "SHA256SUMS";
  EXPECT_EQ(read_file(sums), sha256_file(file) + "  model.safetensors\n");
  std::string bytes = read_file(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 4);
  write_file(file, bytes);
  EXPECT_THAT(refusal(folder.path),
              ::testing::HasSubstr("model.safetensors: is not the file that"));
  write_file(sums, sha256_file(file) + " *other.safetensors\n");
  EXPECT_THAT(refusal(folder.path), ::testing::HasSubstr("is not in SHA256SUMS"));
  write_file(sums, sha256_file(file) + " *model.safetensors\n");
  EXPECT_EQ(read_weights(folder.path).tensors.size(), 1U);
  fs::remove(sums);  // as other programs write weights
  EXPECT_EQ(read_weights(folder.path).tensors.size(), 1U);
}

TEST(SumsSha256, NamesTheWeightsIfTheyHaveSums) {
  const Folder folder;
  Weights weights{{{"a", 1}}, {}};
  weights.tensors.emplace_back("one", HostTensor({graph::DType::kF32, {100}}));
  write_weights(folder.path, weights);
  const auto before = sums_sha256(folder.path);
  EXPECT_EQ(before, sha256_file(folder.path / "SHA256SUMS"));
  weights.tensors[0].second.as<float>()[7] = 1;
  write_weights(folder.path, weights);
  EXPECT_NE(sums_sha256(folder.path), before);
  fs::remove(folder.path / "SHA256SUMS");
  EXPECT_EQ(sums_sha256(folder.path), std::nullopt);
}

TEST(ModelType, HasTwoSpellings) {
  EXPECT_EQ(plain_model_type("hum-coarse"), "coarse");
  EXPECT_EQ(plain_model_type("coarse"), "coarse");
  for (const char* stored : {"coarse", "hum-coarse"}) {
    const Weights weights{{{"model_type", stored}, {"model", Json::object()}}, {}};
    EXPECT_NO_THROW(require_model_type(weights, "hum-coarse", "weights/coarse"));
    EXPECT_THROW(require_model_type(weights, "hum-codec", "weights/coarse"), Error);
  }
}

TEST(GoldenTensor, IsThatOfThePythonSide) {
  const Json golden = read_json(source_folder() / "tests/data/random.json");
  const auto tensor = golden_tensor(golden.at("seed"), "layers.0.weight", {7}, {0.5, 1.0}, 3);
  EXPECT_EQ(tensor.to_floats(), golden.at("tensor").get<std::vector<float>>());
  const auto integers = golden_integers(golden.at("seed"), "tokens", {7}, 1000);
  EXPECT_THAT(integers.as<int32_t>(),
              ::testing::ElementsAreArray(golden.at("integers").get<std::vector<int32_t>>()));
}

}  // namespace
}  // namespace hum::runtime

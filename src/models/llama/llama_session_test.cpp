// Logits and greedy continuations against Hugging Face transformers.
#include "models/llama/llama_session.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/folders.h"
#include "kernels/test_session.h"
#include "models/llama/test_golden.h"

namespace hum::models::llama {
namespace {

using graph::DType;

// Bounds of the largest difference: absolute in f32, of the logits' range in bf16.
constexpr double kF32Bound = 1e-4, kBf16Bound = 3e-2;

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(double{a[i]} - double{b[i]});
    if (!(difference <= largest)) largest = difference;  // NaN counts
  }
  return largest;
}

double range(const std::vector<float>& x) {
  const auto [low, high] = std::ranges::minmax(x);
  return double{high} - double{low};
}

void expect_logits(const Golden& golden, const Checkpoint& checkpoint) {
  const LlamaSession wide(kernels::kernel_session(), checkpoint, DType::kF32);
  const double f32 = largest_difference(wide.logits(golden.prompt), golden.logits_f32);
  EXPECT_LE(f32, kF32Bound);
  ::testing::Test::RecordProperty("f32_difference", std::to_string(f32));
}

void expect_bf16_logits(const Golden& golden, const Checkpoint& checkpoint) {
  const LlamaSession narrow(kernels::kernel_session(), checkpoint, DType::kBF16);
  const double bf16 = largest_difference(narrow.logits(golden.prompt), golden.logits_bf16);
  EXPECT_LE(bf16, kBf16Bound * range(golden.logits_bf16));
  ::testing::Test::RecordProperty("bf16_difference",
                                  std::to_string(bf16 / range(golden.logits_bf16)));
}

void expect_greedy(const Golden& golden, const Checkpoint& checkpoint) {
  const LlamaSession wide(kernels::kernel_session(), checkpoint, DType::kF32);
  EXPECT_EQ(wide.generate(golden.prompt, static_cast<int64_t>(golden.greedy.size())),
            golden.greedy);
}

class LlamaGolden : public ::testing::TestWithParam<const char*> {
 protected:
  Golden golden{golden_folder() / (std::string(GetParam()) + ".safetensors")};
  Checkpoint checkpoint = golden_checkpoint(golden.source, golden.seed);
};
using LlamaFurtherGolden = LlamaGolden;

TEST_P(LlamaGolden, LogitsAreThoseOfTransformers) { expect_logits(golden, checkpoint); }

TEST_P(LlamaFurtherGolden, Bf16LogitsAreThoseOfTransformers) {
  expect_bf16_logits(golden, checkpoint);
}

TEST_P(LlamaFurtherGolden, GreedyContinuationsAreThoseOfTransformers) {
  expect_greedy(golden, checkpoint);
}

constexpr const char* kModels[] = {"mha",   "gqa_tied",    "biases",        "mistral",
                                   "qwen2", "linear",      "dynamic",       "llama3",
                                   "yarn",  "yarn_mscale", "yarn_attention"};
std::string name_of(const ::testing::TestParamInfo<const char*>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Models, LlamaGolden, ::testing::ValuesIn(kModels), name_of);
// Two in `make test`, all in `make test-slow`.
INSTANTIATE_TEST_SUITE_P(Models, LlamaFurtherGolden, ::testing::Values("gqa_tied", "yarn"),
                         name_of);
INSTANTIATE_TEST_SUITE_P(SlowModels, LlamaFurtherGolden, ::testing::ValuesIn(kModels), name_of);

TEST(LlamaSession, RunsAllLayersOfATokenInOneKernel) {
  HUM_NEEDS(kernels::Isa::kAvx2);
  const Golden golden(golden_folder() / "gqa_tied.safetensors");
  const LlamaSession model(kernels::kernel_session(), golden_checkpoint(golden.source, golden.seed),
                           DType::kF32);
  const kernels::KernelCounter counter;
  const auto made = model.generate(golden.prompt, 5);
  EXPECT_EQ(counter.calls().count("hum.decoder_step"), made.size());
}

// SmolLM2-135M where tools/golden/llama_real.py has put it.
TEST(LlamaSlowReal, SmolLm2IsThatOfTransformers) {
  const auto folder = source_folder() / "out/smollm2";
  if (!std::filesystem::exists(folder / "golden.safetensors")) {
    GTEST_SKIP() << "tools/golden/llama_real.py makes " << folder;
  }
  const Golden golden(folder / "golden.safetensors");
  const Checkpoint checkpoint = read_checkpoint(folder / "model");
  expect_logits(golden, checkpoint);
  expect_bf16_logits(golden, checkpoint);
  expect_greedy(golden, checkpoint);
}

}  // namespace
}  // namespace hum::models::llama

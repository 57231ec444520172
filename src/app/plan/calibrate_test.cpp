// A calibration from the log of a training that the test runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/folders.h"
#include "models/llama/model.h"
#include "plan/calibration.h"
#include "runtime/testing.h"
#include "train/loop.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int64_t kBatch = 2, kLength = 32;

// The log of twelve steps of a small Llama.
fs::path train_a_little(const fs::path& folder) {
  const models::llama::Llama model(
      {.transformer = {.layers = 2, .width = 32, .heads = 2, .kv_heads = 2, .feed_forward = 64},
       .vocabulary = 48});
  train::LoopConfig loop;
  loop.steps = 12;
  loop.log_every = 2;
  const auto tokens = [](int64_t step) {
    runtime::HostTensor batch({graph::DType::kI32, {kBatch, kLength}});
    for (int32_t& token : batch.as<int32_t>()) token = static_cast<int32_t>(step % 48);
    return std::vector{batch, batch};
  };
  train::run_training(runtime::test_session(),
                      model.train_spec({.batch = kBatch, .frames = kLength}), loop, tokens,
                      {.run = folder / "run"});
  return folder / "run/log.jsonl";
}

TEST(PlanCalibrate, ReadsTheLogOfATrainingAndSaysWhatOneRunCannotTell) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("hum-calibrate-{}", ::getpid());
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path log = train_a_little(folder);
  const plan::Hardware hardware(source_folder() / "tests/data/planner/desk.yaml");

  const plan::Campaign campaign = plan::read_campaign(log, hardware, "desk");
  ASSERT_EQ(campaign.runs.size(), 1U);
  const plan::Run& run = campaign.runs[0];
  EXPECT_GT(run.measured_s, 0);
  EXPECT_LT(run.measured_s, 5);
  // The planner's count for a transformer of this shape, made without a graph. hum also recomputes
  // the scores for the attention's gradient.
  const plan::Transformer shape{.hidden = 32,
                                .layers = 2,
                                .heads = 2,
                                .ffn = 64,
                                .vocab = 48,
                                .sequence = kLength,
                                .gated = true,
                                .tied_embeddings = false};
  const double more = 2.0 * kLength * 32 * 2 * kLength;
  EXPECT_DOUBLE_EQ(run.work->product_flops, kBatch * (shape.flops_per_sequence() + more));

  const plan::Calibration made = plan::calibrate({log}, hardware, "desk");
  EXPECT_EQ(made.files.at(0).name, "run/log.jsonl");
  EXPECT_EQ(made.borrowed.size(), 5U) << "one run determines one efficiency";
  EXPECT_TRUE(made.interval_assumed);
  EXPECT_THAT(made.notes.at(0), HasSubstr("the median of 5 times"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace hum::app

// hum train trains a split codec, and the models that build on it learn from its sound part alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "app/training/train.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "data/shards/make_items.h"
#include "models/testing.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

// The sound part has 6 of 8 dims and 3 of 4 books.
Json split() {
  return {{"phase_latent", 2},
          {"phase_books", 1},
          {"phase_width", 16},
          {"phase_blocks", 1},
          {"consistency_weight", 1.0}};
}

class CodecTraining : public ::testing::Test {
 protected:
  CodecTraining() {
    ::setenv("HUM_CACHE", (folder_ / "cache").c_str(), /*overwrite=*/1);
    data::MakeOptions options{.count = 3, .items_per_shard = 3, .threads = 1};
    options.items.presets = {"violin", "acoustic-grand-piano"};
    data::make_items(folder_ / "data", options);
  }
  ~CodecTraining() override { ::unsetenv("HUM_CACHE"); }

  ModelConfiguration configuration(const std::string& name, const Json& changes,
                                   int64_t steps) const {
    ModelConfiguration result{.path = "tiny.yaml", .row = models::find_model(name)};
    result.model = models::tiny_config(name);
    result.model.update(changes);
    StageConfig& stage = result.stage;
    stage.data = folder_ / "data";
    stage.run = folder_ / ("run-" + name);
    stage.output = folder_ / ("trained/" + name);
    stage.weights = folder_ / "trained";
    stage.batch = 2;
    stage.frames = 25;
    stage.held_out = 1;
    stage.predicted_share = 0.5;
    stage.compute = Compute::kF32;
    stage.loop.steps = steps;
    stage.loop.log_every = 5;
    auto& optimizer = stage.loop.optimizer;
    optimizer.learning_rate = optimizer.final_learning_rate = 3e-3;
    optimizer.warm_up_steps = 1;
    return result;
  }

  ScratchFolder folder_;
};

TEST_F(CodecTraining, LowersTheLossAndTheMovementOfTheSoundPart) {
  auto tiny = configuration("codec", split(), 60);
  tiny.model["quantizer"]["warm_up_steps"] = 5;
  train(tiny, {});
  std::ifstream log(fs::path(tiny.stage.run) / "log.jsonl");
  std::vector<double> losses, movements, validated;
  for (std::string line; std::getline(log, line);) {
    const Json entry = parse_json(line);
    if (entry.contains("validation")) {
      validated.push_back(entry.at("validation").at("movement"));
    }
    if (!entry.contains("step")) continue;
    losses.push_back(entry.at("loss"));
    movements.push_back(entry.at("movement"));
  }
  ASSERT_EQ(losses.size(), 12U);
  EXPECT_LT(losses.back(), 0.95 * losses.front());
  EXPECT_LT(movements.back(), 0.8 * movements.front());
  ASSERT_EQ(validated.size(), 1U);
  EXPECT_GT(validated[0], 0);
  const Json model = runtime::read_weights(tiny.stage.output).config.at("model");
  EXPECT_EQ(model.at("phase_latent"), 2);
  EXPECT_EQ(model.at("phase_books"), 1);
}

TEST_F(CodecTraining, LeavesTheSplitOutOfWeightsWithoutOne) {
  const auto plain = configuration("codec", Json::object(), 1);
  train(plain, {});
  const Json model = runtime::read_weights(plain.stage.output).config.at("model");
  for (const char* field :
       {"phase_latent", "phase_books", "phase_width", "consistency_weight", "floor_db"}) {
    EXPECT_FALSE(model.contains(field)) << field;
  }
}

TEST_F(CodecTraining, IsSeenByLaterModelsInItsSoundPartAlone) {
  models::write_tiny_weights(folder_ / "trained", "codec", split());
  const Json common = {{"common", {{"latent", 6}, {"books", 3}, {"entries", 32}}}};
  for (const char* name : {"upsampler", "voice", "coarse"}) {
    EXPECT_EQ(train(configuration(name, common, 1), {}).summary.at("finished"), true) << name;
  }
  EXPECT_THROW(train(configuration("upsampler", Json::object(), 1), {}), Error);
}

}  // namespace
}  // namespace hum::app

// hum train trains a split codec, and the models that build on it learn from its sound part alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/training/testing.h"
#include "app/training/train.h"
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

class CodecTraining : public testing::TrainingTest {
 protected:
  CodecTraining() : TrainingTest(3) {}

  ModelConfiguration configuration(const std::string& name, const Json& changes,
                                   int64_t steps) const {
    ModelConfiguration result = tiny(name, 3e-3);
    result.model.update(changes);
    StageConfig& stage = result.stage;
    stage.run = folder_ / ("run-" + name);
    stage.output = folder_ / ("trained/" + name);
    stage.weights = folder_ / "trained";
    stage.frames = 25;
    stage.held_out = 1;
    stage.predicted_share = 0.5;
    stage.loop.steps = steps;
    stage.loop.log_every = 5;
    return result;
  }
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
  const Json common = {{"latent", 6}, {"books", 3}, {"entries", 32}};
  const std::pair<const char*, Json> models[] = {
      {"upsampler", {{"common", common}, {"classified_books", 2}}},
      {"voice", {{"common", common}}},
      {"coarse", {{"common", common}}}};
  for (const auto& [name, model] : models) {
    EXPECT_EQ(train(configuration(name, model, 1), {}).summary.at("finished"), true) << name;
  }
  EXPECT_THROW(train(configuration("upsampler", Json::object(), 1), {}), Error);
}

}  // namespace
}  // namespace hum::app

// hum train trains the draft of an upsampler that attends to the reference, on phase-free targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/training/testing.h"
#include "app/training/train.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing/refusal.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using runtime::HostTensor;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DraftTraining : public testing::TrainingTest {
 protected:
  DraftTraining() : TrainingTest(2) {
    for (const char* part : {"codec", "upsampler"}) {
      models::write_tiny_weights(folder_.path(), part);
    }
  }

  ModelConfiguration configuration() const {
    ModelConfiguration result = tiny("predictor", 3e-3);
    result.model["timbre"] = "attended";
    StageConfig& stage = result.stage;
    stage.run = folder_ / "run";
    stage.output = folder_ / "trained/predictor";
    stage.weights = folder_.path();
    stage.targets = Targets::kPhaseFree;
    stage.held_out = 0;
    stage.loop.steps = 30;
    stage.loop.log_every = 5;
    return result;
  }
};

TEST_F(DraftTraining, LearnsFromPooledWeightsAndSaysHowMuchItExplains) {
  train(configuration(), {.init = folder_.path()});
  std::ifstream log(fs::path(folder_ / "run") / "log.jsonl");
  std::vector<double> losses, explained;
  for (std::string line; std::getline(log, line);) {
    const Json entry = parse_json(line);
    if (!entry.contains("step")) continue;
    losses.push_back(entry.at("loss"));
    explained.push_back(entry.at("draft_explained"));
    EXPECT_FALSE(entry.contains("ce2"));
  }
  ASSERT_EQ(losses.size(), 6U);
  EXPECT_LT(losses.back(), 0.95 * losses.front());
  EXPECT_GT(explained.back(), explained.front());

  std::vector<std::string> made;
  for (const auto& entry : fs::directory_iterator(folder_ / "data")) {
    made.push_back(entry.path().filename());
  }
  EXPECT_THAT(made, Contains(StartsWith("phase-free-")));
  const Json model = runtime::read_weights(folder_ / "trained/predictor").config.at("model");
  EXPECT_EQ(model.at("timbre"), "attended");
}

TEST_F(DraftTraining, StartsAnUpsamplerToo) {
  models::write_tiny_weights(folder_ / "drafts", "predictor");
  auto upsampler = tiny("upsampler", 0);
  upsampler.stage.run = folder_ / "run";
  upsampler.stage.output = folder_ / "trained/upsampler";
  upsampler.stage.weights = folder_.path();
  upsampler.stage.held_out = 0;
  upsampler.stage.loop.steps = 1;
  train(upsampler, {.init = folder_ / "drafts"});
  const auto first_tensor = [&](const char* part) {
    const auto weights = runtime::read_weights(folder_ / part);
    const auto found =
        std::ranges::find(weights.tensors, "in.weight", &runtime::NamedTensors::value_type::first);
    return found->second;
  };
  EXPECT_EQ(first_tensor("trained/upsampler"), first_tensor("drafts/predictor"));
  EXPECT_NE(first_tensor("trained/upsampler"),
            HostTensor(first_tensor("drafts/predictor").shape()));
}

TEST_F(DraftTraining, ServesTheTrainingsThatBuildOnItWhateverFeaturesItReads) {
  for (const int features : {9, 13}) {
    const std::string own = fmt::format("of-{}", features);
    auto first = configuration();
    first.model["common"]["melody_features"] = features;
    first.stage.run = folder_ / (own + "-run");
    first.stage.output = folder_ / (own + "/predictor");
    first.stage.loop.steps = 1;
    train(first, {});
    write_file(folder_ / (own + "/builds_on"), "..\n");  // the codec and the upsampler
    for (const std::string name : {"coarse", "voice"}) {
      auto next = configuration();
      next.row = models::find_model(name);
      next.model = models::tiny_config(name);  // of 9 features
      next.stage.weights = folder_ / own;
      next.stage.run = folder_ / (own + name + "-run");
      next.stage.output = folder_ / (own + name);
      next.stage.targets = Targets::kTokens;
      next.stage.frames = 25;
      next.stage.predicted_share = 0.5;
      next.stage.loop.steps = 1;
      EXPECT_EQ(train(next, {}).summary.at("finished"), true) << own << name;
    }
  }
}

TEST_F(DraftTraining, OnPhaseFreeTargetsIsOfTheDraftAlone) {
  auto whole = configuration();
  whole.row = models::find_model("upsampler");
  EXPECT_THAT(hum::testing::message_of([&] { train(whole, {}); }),
              HasSubstr("phase_free trains only drafts"));
}

TEST_F(DraftTraining, LeavesItsSettingsOutOfRunsThatDoNotUseThem) {
  auto plain = configuration();
  plain.row = models::find_model("upsampler");
  plain.model = models::tiny_config("upsampler");
  plain.stage.output = folder_ / "trained/upsampler";
  plain.stage.targets = Targets::kTokens;
  plain.stage.loop.steps = 1;
  train(plain, {});
  const Json model = runtime::read_weights(folder_ / "trained/upsampler").config.at("model");
  EXPECT_FALSE(model.contains("timbre"));
}

}  // namespace
}  // namespace hum::app

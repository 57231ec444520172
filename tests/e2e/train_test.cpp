// hum train from a configuration, and the flags that stand above it.
#include <fmt/format.h>

#include "base/json.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Train : public Program {
 protected:
  Train() {
    write("data.yaml",
          "items: {presets: [acoustic-grand-piano, violin]}\ncount: 2\nitems_per_shard: "
          "2\nthreads: 1\n");
    const auto made = run_hum({"data", "make", "--config", path("data.yaml"), "-o", path("data")});
    EXPECT_EQ(made.code, 0) << made.err;
    write("train.yaml",
          fmt::format("stage: {{data: {}, run: {}, output: {}, batch: 2, frames: 25, held_out: 0, "
                      "compute: bf16, loop: {{steps: 2, log_every: 1, checkpoint_every: 1}}}}\n"
                      "model: {{bands: 16, embedding: 4}}\n",
                      path("data"), path("run"), path("classifier")));
  }
  Outcome train(std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments = {"train", "classifier", "--config", path("train.yaml")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_hum(arguments);
  }
  // The element type that the log says the products have.
  std::string logged_type() const {
    const std::string log = read("run/log.jsonl");
    return Json::parse(log.substr(0, log.find('\n'))).at("run").at("dtype");
  }
};

TEST_F(Train, ComputesAsTheConfigurationSays) {
  const auto trained = train({"--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(Json::parse(trained.out).at("steps"), 2);
  EXPECT_EQ(logged_type(), "bf16");
  EXPECT_THAT(files(), Contains("classifier"));
}

TEST_F(Train, FlagReplacesTheConfigurationsComputeType) {
  const auto trained = train({"--compute", "f32"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(logged_type(), "f32");
  const auto refused = train({"--compute", "fp8"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("'fp8'"), HasSubstr("f32, bf16")));
}

TEST_F(Train, RunOfOtherTypeIsNotTakenUp) {
  ASSERT_EQ(train().code, 0);
  const auto refused = train({"--compute", "f32"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("another configuration"));
}

TEST_F(Train, RunGoesOnWithItsItemsAlone) {
  ASSERT_EQ(train().code, 0);
  // Where a run's weights go is nothing that it has learned from.
  EXPECT_EQ(train({"--output", path("elsewhere")}).code, 0);
  const std::string config = read("data.yaml");
  write("data.yaml", std::string(config).replace(config.find("count: 2"), 8, "count: 4"));
  const auto grown = run_hum({"data", "make", "--config", path("data.yaml"), "-o", path("data")});
  ASSERT_EQ(grown.code, 0) << grown.err;
  const auto refused = train();
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("another configuration"));
}

TEST_F(Train, UnfinishedRunWritesNoWeights) {
  const std::string config = read("train.yaml");
  write("train.yaml",
        std::string(config).replace(config.find("steps: 2"), 8, "max_minutes: 1e-9, steps: 2"));
  const auto stopped = train();
  EXPECT_EQ(stopped.code, 75);
  EXPECT_THAT(stopped.err, HasSubstr("step 1 of 2"));
  EXPECT_THAT(files(), Not(Contains("classifier")));
  write("train.yaml", config);
  EXPECT_EQ(train().code, 0);
  EXPECT_THAT(files(), Contains("classifier"));
}

TEST_F(Train, OutputThatHoldsSomethingElseIsRefusedAtOnce) {
  const auto refused = train({"--output", path("data")});
  EXPECT_EQ(refused.code, 73);
  EXPECT_THAT(refused.err, HasSubstr("holds no config.json"));
  EXPECT_THAT(files(), Not(Contains("run")));
}

TEST_F(Train, ValuesThatNoStageCanHaveAreNamed) {
  const std::string config = read("train.yaml");
  for (const char* value : {"frames: 301", "frames: 0"}) {
    write("train.yaml", std::string(config).replace(config.find("frames: 25"), 10, value));
    const auto refused = train();
    EXPECT_EQ(refused.code, 78);
    EXPECT_THAT(refused.err, HasSubstr("stage.frames"));
  }
}

}  // namespace
}  // namespace hum::e2e

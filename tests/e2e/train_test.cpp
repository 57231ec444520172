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
          fmt::format("model_type: classifier\n"
                      "stage: {{data: {}, run: {}, output: {}, batch: 2, frames: 25, held_out: 0, "
                      "compute: bf16, loop: {{steps: 2, log_every: 1, checkpoint_every: 1}}}}\n"
                      "model: {{bands: 16, embedding: 4}}\n",
                      path("data"), path("run"), path("classifier")));
  }
  Outcome train(std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments = {"train", path("train.yaml")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_hum(arguments);
  }
  // The element type that the log says the products have.
  std::string logged_type() const {
    const std::string log = read("run/log.jsonl");
    return parse_json(log.substr(0, log.find('\n'))).at("run").at("dtype");
  }
};

TEST_F(Train, ComputesAsTheConfigurationSays) {
  const auto trained = train({"--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(parse_json(trained.out).at("steps"), 2);
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

TEST_F(Train, CommandsOfEarlierReleasesNameTheNewOne) {
  const auto trained = run_hum({"train", "classifier", "--config", path("train.yaml")});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("is now hum train " + path("train.yaml")));
  EXPECT_THAT(files(), Contains("classifier"));
  const auto plain = run_hum({"train", "--config", path("train.yaml")});
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_THAT(plain.err, Not(HasSubstr("is now")));
}

TEST_F(Train, CommandAndConfigurationMustAgreeOnTheModel) {
  const auto other = run_hum({"train", "voice", "--config", path("train.yaml")});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("a configuration of classifier, not of voice"),
                               HasSubstr("\nhint: hum train " + path("train.yaml"))));
  const auto two = run_hum({"train", path("train.yaml"), "--config", path("train.yaml")});
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("two configurations"));
  const auto none = run_hum({"train"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err,
              AllOf(HasSubstr("needs CONFIG"), HasSubstr("\nhint: for example: hum train ")));
}

TEST_F(Train, ConfigurationWithoutItsModelIsRefusedWithTheLineToAdd) {
  write("train.yaml", read("train.yaml").substr(sizeof("model_type: classifier\n") - 1));
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"train", path("train.yaml")},
           {"train", "classifier", "--config", path("train.yaml")},
           {"compile", path("train.yaml")},
           {"audit", path("train.yaml")}}) {
    const auto refused = run_hum(words);
    EXPECT_EQ(refused.code, 78);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("train.yaml: model_type is missing"),
                                   HasSubstr("\nhint: add the line 'model_type: classifier'")));
  }
  EXPECT_THAT(files(), Not(Contains("run")));
}

TEST_F(Train, ModelsThatHumDoesNotTrainAreRefused) {
  write("dac.yaml", "model_type: dac\nstage: {run: r, output: o}\n");
  const auto trained = run_hum({"train", path("dac.yaml")});
  EXPECT_EQ(trained.code, 2);
  EXPECT_THAT(trained.err, HasSubstr("hum does not train dac"));
  const auto audited = run_hum({"audit", path("dac.yaml")});
  EXPECT_EQ(audited.code, 2);
  EXPECT_THAT(audited.err, HasSubstr("dac has nothing to audit"));
}

TEST_F(Train, ModelsOfAFolderOfWeightsAreChecked) {
  ASSERT_EQ(train({"--output", path("weights/classifier")}).code, 0);
  const auto checked = run_hum({"model", "check", path("weights"), "--json"});
  ASSERT_EQ(checked.code, 0) << checked.err;
  const Json report = parse_json(checked.out);
  ASSERT_EQ(report.size(), 1);
  EXPECT_EQ(report[0].at("model"), "classifier");
  write("weights/classifier/model.safetensors", "damaged");
  EXPECT_EQ(run_hum({"model", "check", path("weights")}).code, 65);
  const auto none = run_hum({"model", "check", path("data")});
  EXPECT_EQ(none.code, 66);
  EXPECT_THAT(none.err, HasSubstr("none of hum's models"));
}

TEST_F(Train, OutputThatHoldsSomethingElseIsRefusedAtOnce) {
  const auto refused = train({"--output", path("data")});
  EXPECT_EQ(refused.code, 73);
  EXPECT_THAT(refused.err, HasSubstr("has no config.json"));
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

TEST_F(Train, ValuesThatNoLoopCanHaveAreNamedBeforeAnythingIsWritten) {
  const auto before = files();
  const std::string config = read("train.yaml");
  const std::pair<const char*, const char*> values[] = {
      {"steps: 0", "loop.steps = 0"},
      {"steps: -3", "loop.steps = -3"},
      {"steps: 2.5", "2.5 is not a whole number"},
      {"steps: 2, steps: 3", "'steps' is there twice"},
      {"steps: 2, max_minutes: -1", "loop.max_minutes"},
      {"steps: 2, memory_limit: lots", "lots"},
      {"steps: 2, optimizer: {learning_rate: -1}", "loop.optimizer.learning_rate"},
      {"steps: 2, optimizer: {learning_rate: .nan}", "loop.optimizer.learning_rate"},
      {"steps: 2, optimizer: {beta1: 1.5}", "loop.optimizer.beta1"}};
  const size_t loop = config.find("loop: {");
  ASSERT_NE(loop, std::string::npos);
  const size_t end = config.find('}', loop) + 1;
  for (const auto& [value, what] : values) {
    write("train.yaml",
          std::string(config).replace(loop, end - loop, fmt::format("loop: {{{}}}", value)));
    const auto refused = train();
    EXPECT_EQ(refused.code, 78) << value << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(what));
    EXPECT_EQ(files(), before) << value;
  }
}

}  // namespace
}  // namespace hum::e2e

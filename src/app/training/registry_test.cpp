// Tests every row of the registry: its configurations parse, its folder has a README, a tiny model
// trains as with hum train, its weights read back as they were written, and a platform's audit
// knows its ops.
#include "models/registry.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>
#include <numeric>

#include "app/session_options.h"
#include "app/training/inputs.h"
#include "app/training/model_step.h"
#include "app/training/testing.h"
#include "app/training/train.h"
#include "base/files.h"
#include "base/folders.h"
#include "data/shards/make_items.h"
#include "data/singing/sung_shards.h"
#include "graph/passes/passes.h"
#include "graph/profile/profile.h"
#include "kernels/table.h"
#include "models/testing.h"
#include "models/weights_folder.h"
#include "train/checkpoint.h"
#include "train/training_step.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using models::ModelRow;
using models::TrainingInput;
using ::testing::HasSubstr;

// Configurations of models, not of data.
bool is_of_data(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("data") || name.starts_with("stems");
}
std::vector<fs::path> model_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(source_folder() / "configs")) {
    if (!entry.is_directory() && !is_of_data(entry.path())) files.push_back(entry.path());
  }
  return files;
}

TEST(Registry, ReadsEveryConfigurationAndHasOneOfEachTrainedModel) {
  std::vector<std::string> configured;
  for (const auto& path : model_files()) {
    SCOPED_TRACE(path.string());
    const std::string text = read_file(path);
    EXPECT_TRUE(text.starts_with("model_type: ")) << "the first line names the model";
    const ModelConfiguration configuration = read_configuration(path);
    EXPECT_NO_THROW(validate(configuration.stage));
    EXPECT_NO_THROW(configuration.check());
    const ModelStep step = read_model_step(path, 1);
    EXPECT_EQ(step.spec.name, step.row->name);
    EXPECT_GT(step.model->parameters().element_count(), 0);
    configured.emplace_back(step.row->name);
  }
  for (const ModelRow& row : models::registry()) {
    if (row.input == TrainingInput::kNone) continue;
    EXPECT_THAT(configured, ::testing::Contains(row.name)) << "no configuration in configs/";
  }
}

TEST(Registry, HasARowOfEveryFolderAndAReadmeInEach) {
  for (const auto& entry : fs::directory_iterator(source_folder() / "src/models")) {
    if (!entry.is_directory()) continue;
    const std::string folder = entry.path().filename();
    const auto rows = models::registry();
    EXPECT_NE(std::ranges::find(rows, folder, &ModelRow::folder), rows.end()) << folder;
    EXPECT_TRUE(fs::exists(entry.path() / "README.md")) << folder;
  }
  for (const ModelRow& row : models::registry()) {
    EXPECT_TRUE(fs::is_directory(source_folder() / "src/models" / row.folder)) << row.name;
  }
}

TEST(Registry, FindsAModelByBothSpellingsOfItsType) {
  for (const ModelRow& row : models::registry()) {
    EXPECT_EQ(models::find_model(row.name), &row);
    EXPECT_EQ(models::find_model(fmt::format("hum-{}", row.name)), &row);
  }
  EXPECT_EQ(models::find_model("hum-"), nullptr);
  EXPECT_EQ(models::find_model("gpt2"), nullptr);
}

// Items, and the weights that the models build on, made once for all tests.
class TrainedModel : public ::testing::TestWithParam<const ModelRow*> {
 protected:
  static void SetUpTestSuite() {
    root_ = fs::temp_directory_path() / fmt::format("hum-registry-{}", ::getpid());
    fs::remove_all(root_);
    ::setenv("HUM_CACHE", (root_ / "cache").c_str(), /*overwrite=*/1);
    testing::make_few_items(root_ / "data", 3);
    data::make_sung_items(root_ / "voices",
                          {.seconds = 2, .silent_share = 0, .count = 3, .items_per_shard = 3});
    testing::make_few_stems(root_ / "stems", 3);
    for (const char* part : {"codec", "upsampler"}) models::write_tiny_weights(root_, part);
  }
  static void TearDownTestSuite() {
    ::unsetenv("HUM_CACHE");
    fs::remove_all(root_);
  }

  static ModelConfiguration configuration(int64_t steps, double learning_rate) {
    ModelConfiguration result = testing::tiny_configuration(
        *GetParam(), root_ / data_for(GetParam()->input), learning_rate);
    StageConfig& stage = result.stage;
    stage.weights = root_;
    stage.frames = 25;
    stage.predicted_share = 0.5;
    stage.held_out = 1;
    stage.loop.steps = steps;
    stage.loop.log_every = 1;
    return result;
  }
  static const char* data_for(TrainingInput input) {
    if (input == TrainingInput::kSungCrops) return "voices";
    return input == TrainingInput::kStems ? "stems" : "data";
  }
  // The models whose weights a training writes.
  static std::vector<std::string> parts() {
    const auto& parts = GetParam()->parts;
    if (parts.empty()) return {std::string(GetParam()->name)};
    return {parts.begin(), parts.end()};
  }
  // Trains into a folder of weights, and returns it.
  static fs::path trained(const std::string& name, const fs::path& init, int64_t steps,
                          double learning_rate) {
    TrainOptions options;
    options.run = root_ / (name + "-run") / GetParam()->name;
    options.output = root_ / name / (GetParam()->parts.empty() ? GetParam()->name : "");
    options.init = init;
    train(configuration(steps, learning_rate), options);
    return root_ / name;
  }
  // The log of a training into `name`.
  static std::vector<Json> log_of(const std::string& name) {
    std::ifstream log(root_ / (name + "-run") / GetParam()->name / "log.jsonl");
    std::vector<Json> lines;
    for (std::string line; std::getline(log, line);) lines.push_back(parse_json(line));
    return lines;
  }
  static std::vector<double> losses(const std::string& name) {
    std::vector<double> result;
    for (const Json& entry : log_of(name)) {
      if (entry.contains("step")) result.push_back(entry.at("loss"));
    }
    return result;
  }

  static inline fs::path root_;
};

// A checkpoint names only the settings that earlier releases had, so that their runs resume.
void expect_identity_of_earlier_releases(const fs::path& run) {
  const Json loop = train::latest_checkpoint(run)->config.at("stage").at("loop");
  const auto names = [](const Json& json) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    return keys;
  };
  EXPECT_THAT(names(loop), ::testing::UnorderedElementsAre("steps", "seed", "optimizer"));
  EXPECT_THAT(
      names(loop.at("optimizer")),
      ::testing::UnorderedElementsAre("learning_rate", "final_learning_rate", "warm_up_steps",
                                      "beta1", "beta2", "epsilon", "weight_decay", "clip_norm"));
}

// A run of this model ends with the loss of its held-out item.
void expect_validation(const std::vector<Json>& log, int64_t steps) {
  std::vector<Json> found;
  for (const Json& line : log) {
    if (line.contains("validation")) found.push_back(line.at("validation"));
  }
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("step"), steps);
  EXPECT_GT(found[0].at("loss").get<double>(), 0);
}

// Except for buffers, which a step updates itself.
void expect_same_weights(const fs::path& first, const fs::path& second, const std::string& part) {
  const auto before = runtime::read_weights(first / part),
             after = runtime::read_weights(second / part);
  EXPECT_EQ(before.config, after.config);
  ASSERT_EQ(before.tensors.size(), after.tensors.size());
  const auto model = models::find_model(part)->configuration->make(before.config.at("model"));
  for (const auto& parameter : model->parameters().all()) {
    if (!parameter.trainable) continue;
    const auto tensor_of = [&](const runtime::Weights& weights) {
      return std::ranges::find(weights.tensors, parameter.name,
                               &runtime::NamedTensors::value_type::first)
          ->second;
    };
    EXPECT_EQ(tensor_of(before), tensor_of(after)) << parameter.name;
  }
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST_P(TrainedModel, LearnsAndItsWeightsComeBackAsTheyWere) {
  ASSERT_FALSE(models::tiny_config(GetParam()->name).is_null()) << "give it a size in testing.h";
  constexpr int64_t kSteps = 30, kMean = 5;
  const fs::path first = trained("first", "", kSteps, 3e-3);
  const auto loss = losses("first");
  ASSERT_EQ(std::ssize(loss), kSteps);
  EXPECT_LT(mean(std::span(loss).last(kMean)), 0.95 * mean(std::span(loss).first(kMean)));
  expect_validation(log_of("first"), kSteps);
  expect_identity_of_earlier_releases(root_ / "first-run" / GetParam()->name);

  // Read, run through a step with learning rate 0, written again.
  const fs::path second = trained("second", first, 1, 0);
  for (const std::string& part : parts()) expect_same_weights(first, second, part);
}

// Muon is for matrices between hidden layers, and every model has some.
TEST_P(TrainedModel, HasHiddenMatricesButNoHiddenTableOrHead) {
  const auto model = configuration(1, 0).make();
  size_t hidden = 0;
  for (const auto& parameter : model->parameters().all()) {
    if (!parameter.hidden) continue;
    ++hidden;
    EXPECT_EQ(parameter.shape.dims.size(), 2U) << parameter.name;
    for (const char* other :
         {"embed", "head", "codebook", "stage", "norm", "conv", "film", "bias"}) {
      EXPECT_EQ(parameter.name.find(other), std::string::npos) << parameter.name;
    }
  }
  EXPECT_GT(hidden, 0U);
}

TEST_P(TrainedModel, OpensFromAFolderOfWeights) {
  if (!GetParam()->parts.empty()) GTEST_SKIP() << "it is stored as " << parts().size() << " models";
  const std::string name(GetParam()->name);
  const fs::path weights = root_ / ("opened-" + name);
  for (const char* part : {"upsampler", "coarse"}) models::write_tiny_weights(weights, part);
  models::write_tiny_weights(weights, name);
  runtime::Session session(session_options());
  ASSERT_TRUE(GetParam()->weights && GetParam()->open);
  EXPECT_NE((*GetParam()->open)(session, weights, *GetParam()->weights), nullptr);
  fs::remove(weights / name / "model.safetensors");
  EXPECT_THROW((*GetParam()->open)(session, weights, *GetParam()->weights), Error);
}

TEST_P(TrainedModel, IsAuditedOpByOp) {
  ASSERT_EQ(GetParam()->audit, models::PlatformAudit::kTrainingStep);
  const auto tiny = configuration(1, 0);
  const auto model = tiny.make();
  const auto step = train::step_function(model->train_spec(tiny.step_shape()), {});
  const auto function = graph::run_passes(step.function).function;
  for (const char* platform : {"cpu", "neuron"}) {
    const auto audit = graph::audit(function, graph::profile_named(platform), kernels::available);
    EXPECT_FALSE(audit.rows.empty());
    EXPECT_TRUE(audit.is_supported() || platform != std::string("cpu"));
  }
}

std::vector<const ModelRow*> trained_rows() {
  std::vector<const ModelRow*> rows;
  for (const ModelRow& row : models::registry()) {
    if (row.input != TrainingInput::kNone) rows.push_back(&row);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Registry, TrainedModel, ::testing::ValuesIn(trained_rows()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hum::app

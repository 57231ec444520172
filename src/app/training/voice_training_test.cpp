// hum train trains a guided decoder with all its additions, and what it trained plays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/training/inputs.h"
#include "app/training/testing.h"
#include "app/training/train.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing/refusal.h"
#include "data/synthesis/timing.h"
#include "runtime/testing.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class VoiceTraining : public testing::TrainingTest {
 protected:
  VoiceTraining() : TrainingTest(2, {"tubular-bells", "acoustic-grand-piano"}) {
    for (const char* part : {"codec", "upsampler", "voice"}) {
      models::write_tiny_weights(folder_.path(), part);
    }
  }

  // `name`: of the run, whose weights go to <name>/voice and build on the tiny ones.
  ModelConfiguration configuration(const std::string& name,
                                   const Json& changes = Json::object()) const {
    ModelConfiguration result = tiny("voice", 0);
    result.model.merge_patch(changes);
    StageConfig& stage = result.stage;
    stage.run = folder_ / (name + "-run");
    stage.output = folder_ / (name + "/voice");
    stage.weights = folder_.path();
    stage.frames = 25;
    stage.predicted_share = 0.5;
    stage.held_out = 0;
    stage.loop.steps = 1;
    stage.loop.log_every = 1;
    return result;
  }
  std::vector<double> losses(const std::string& name) const {
    std::ifstream log(folder_ / (name + "-run/log.jsonl"));
    std::vector<double> result;
    for (std::string line; std::getline(log, line);) {
      const Json entry = parse_json(line);
      if (entry.contains("step")) result.push_back(entry.at("loss"));
    }
    return result;
  }
  // An array of the first batch.
  static runtime::HostTensor batch_array(const ModelConfiguration& model, std::string_view name) {
    const auto made = model.make();
    const auto spec = made->train_spec(model.step_shape());
    const auto input = open_input({runtime::test_session(), model, *made, spec});
    const auto found = std::ranges::find(spec.batch, name, &nn::Field::name);
    return input.batches(0).at(static_cast<size_t>(found - spec.batch.begin()));
  }
  runtime::Weights trained(const std::string& name) const {
    return runtime::read_weights(folder_ / (name + "/voice"));
  }
};

runtime::HostTensor tensor_of(const runtime::Weights& weights, std::string_view name) {
  return std::ranges::find(weights.tensors, name, &runtime::NamedTensors::value_type::first)
      ->second;
}

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value / static_cast<double>(values.size());
  return sum;
}

const Json kAdditions = {{"common", {{"melody_features", 13}}},
                         {"excitation_tail_s", 2.0},
                         {"free_branch", true},
                         {"free_low_bins", 64},
                         {"floor_db", 80.0}};

// A melody of two windows for a tiny synthesizer, whose upsampler reads 9 features.
void expect_streams_what_it_plays(const fs::path& weights) {
  runtime::Session session(session_options());
  Synthesizer synthesizer(session, weights);
  const std::vector<int32_t> codes(size_t{4} * 100, 3);  // four books
  const auto instrument =
      synthesizer.instrument({.reference = synthesizer.humming().reference(codes)}, {});
  EXPECT_EQ(instrument.excitation_tail_s, 2);
  std::vector<audio::Note> notes;
  for (int i = 0; i < 4; ++i) notes.push_back({2.0 * i, 2.0 * i + 0.5, 60 + 5 * i, 0.6, {}});
  const auto whole = pipeline::play(notes, instrument, 1);
  std::vector<float> streamed;
  const auto kept =
      pipeline::play_and_keep(notes, instrument, 1, [&](std::span<const float> samples) {
        streamed.insert(streamed.end(), samples.begin(), samples.end());
      });
  EXPECT_EQ(kept, whole);
  ASSERT_EQ(streamed.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(streamed[i], whole[i], 1e-3) << i;
}

TEST_F(VoiceTraining, LearnsWithAllAdditionsAndPlays) {
  auto all = configuration("all", kAdditions);
  all.stage.loop.steps = 30;
  auto& optimizer = all.stage.loop.optimizer;
  optimizer.learning_rate = optimizer.final_learning_rate = 3e-3;
  train(all, {});
  const auto loss = losses("all");
  ASSERT_EQ(loss.size(), 30U);
  EXPECT_LT(mean(std::span(loss).last(5)), 0.95 * mean(std::span(loss).first(5)));

  const Json model = trained("all").config.at("model");
  EXPECT_EQ(model.at("common").at("melody_features"), 13);
  for (const auto& [field, value] : kAdditions.items()) {
    if (field == "common") continue;
    EXPECT_EQ(model.at(field), value) << field;
  }
  write_file(folder_ / "all/builds_on", "..\n");
  expect_streams_what_it_plays(folder_ / "all");
}

TEST_F(VoiceTraining, StartsWithTheSoundOfAVoiceOfFewerFeatures) {
  train(configuration("same"), {.init = folder_.path()});
  train(configuration("more", {{"common", {{"melody_features", 13}}}}), {.init = folder_.path()});
  EXPECT_NEAR(losses("more").at(0), losses("same").at(0), 1e-5);
  const auto same = tensor_of(trained("same"), "in.weight"),
             more = tensor_of(trained("more"), "in.weight");
  const int64_t width = same.shape().dims[1];
  ASSERT_EQ(more.shape().dims, (graph::Dims{same.shape().dims[0], width + 4}));
  const auto before = same.to_floats(), after = more.to_floats();
  for (int64_t row = 0; row < same.shape().dims[0]; ++row) {
    const auto columns = std::span(after).subspan(row * (width + 4), width + 4);
    EXPECT_TRUE(
        std::ranges::equal(columns.first(width), std::span(before).subspan(row * width, width)));
    EXPECT_THAT(columns.last(4), Each(0));
  }
}

TEST_F(VoiceTraining, LeavesItsAdditionsOutOfVoicesThatHaveNone) {
  train(configuration("plain"), {});
  const Json model = trained("plain").config.at("model");
  for (const auto& [field, value] : kAdditions.items()) {
    if (field == "common") continue;
    EXPECT_FALSE(model.contains(field)) << field;
  }
  EXPECT_EQ(model.at("common").at("melody_features"), 9);
}

TEST_F(VoiceTraining, TakesDraftsAloneWhereThereIsNoUpsampler) {
  fs::remove_all(folder_ / "upsampler");
  auto voice = configuration("drafts");
  voice.stage.frames = data::kItemFrames;
  voice.stage.predicted_share = 1;
  EXPECT_THAT(hum::testing::message_of([&] { train(voice, {}); }), HasSubstr("upsampler"));
  models::write_tiny_weights(folder_.path(), "predictor");
  auto coarse = tiny("coarse", 0);
  coarse.stage.weights = folder_.path();
  coarse.stage.held_out = 0;
  coarse.stage.token_replacement = 1e-9;  // replaces nothing, but the drafts are made at each step
  const auto drafts = batch_array(coarse, "draft");
  coarse.stage.token_replacement = 0;
  const auto stored = batch_array(coarse, "draft");
  EXPECT_THAT(stored.as<float>(), Pointwise(FloatNear(1e-5F), drafts.as<float>()));
  EXPECT_EQ(batch_array(voice, "latents"), stored);
}

TEST_F(VoiceTraining, SaysWhatSetsOfFeaturesThereAre) {
  const auto odd = configuration("odd", {{"common", {{"melody_features", 10}}}});
  EXPECT_THAT(hum::testing::message_of([&] { train(odd, {}); }), HasSubstr("use 9 or 13"));
}

}  // namespace
}  // namespace hum::app

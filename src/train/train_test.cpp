// Training runs, their checkpoints, and resuming bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include "base/error.h"
#include "base/rng.h"
#include "base/testing/refusal.h"
#include "graph/ops.h"
#include "runtime/testing.h"
#include "train/checkpoint.h"
#include "train/loop.h"

namespace hum::train {
namespace {

namespace fs = std::filesystem;
using graph::DType;
using graph::Value;
using runtime::HostTensor;

// y = x W, loss mean squared error, and a buffer that counts steps.
struct Toy {
  nn::ParameterList list;
  Value weight = list.declare("layer.weight", {3, 2}, nn::Init::normal(0.5));
  Value bias = list.declare("layer.bias", {2}, nn::Init::zeros());
  Value counter = list.declare_buffer("counter", {1}, nn::Init::zeros());

  nn::TrainSpec spec() const {
    return {.name = "toy",
            .parameters = &list,
            .batch = {{"x", {DType::kF32, {4, 3}}}, {"y", {DType::kF32, {4, 2}}}},
            .loss =
                [this](std::span<const Value> batch, const nn::StepInputs& step) {
                  const Value noise = graph::uniform({DType::kF32, {4, 2}}, step.key) * 0.01;
                  const Value error = graph::matmul(batch[0], weight) + bias + noise - batch[1];
                  return nn::Loss{.total = graph::mean_all(error * error),
                                  .metrics = {{"bias", graph::sum_all(bias)}},
                                  .buffer_updates = {{counter, counter + 1}}};
                },
            .units_per_batch = 4};
  }
};

std::vector<HostTensor> toy_batch(int64_t step) {
  Rng rng(1, "toy", static_cast<uint64_t>(step));
  HostTensor x({DType::kF32, {4, 3}}), y({DType::kF32, {4, 2}});
  for (float& value : x.as<float>()) value = static_cast<float>(rng.normal());
  for (size_t i = 0; i < 8; ++i) y.as<float>()[i] = x.as<float>()[i / 2 * 3 + i % 2] * 2 - 1;
  return {x, y};
}

fs::path fresh_folder(const std::string& name) {
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("hum-train-{}-{}", ::getpid(), name);
  fs::remove_all(folder);
  return folder;
}

LoopConfig loop_config(int64_t steps) {
  LoopConfig config;
  config.steps = steps;
  config.checkpoint_every = 7;
  config.log_every = 5;
  config.optimizer.warm_up_steps = 3;
  config.optimizer.learning_rate = 0.05;
  return config;
}

TEST(Trainer, TrainsOnlyWhatBeginsWithThePrefix) {
  const Toy toy;
  nn::TrainSpec spec = toy.spec();
  spec.train_only = "layer.b";
  Trainer trainer(runtime::test_session(), spec, loop_config(3).optimizer, 3, 1);
  const auto before = trainer.parameters();
  for (int64_t step = 0; step < 3; ++step) trainer.run(step, toy_batch(step));
  const auto after = trainer.parameters();
  ASSERT_EQ(after.size(), 3U);
  for (size_t i = 0; i < after.size(); ++i) {
    const bool is_same = std::ranges::equal(before[i].tensor.bytes(), after[i].tensor.bytes());
    EXPECT_EQ(is_same, after[i].name != "layer.bias") << after[i].name;
  }
  EXPECT_EQ(trainer.state().size(), 5U) << "three parameters, two moments of the bias";
}

TEST(Trainer, NamesAPrefixThatNothingHas) {
  const Toy toy;
  nn::TrainSpec spec = toy.spec();
  spec.train_only = "decoder.";
  EXPECT_THROW(step_function(spec, {}), Error);
}

TEST(Training, ResumesBitForBitHoweverManyBatchesAreAhead) {
  const Toy toy;
  auto train = [&](const fs::path& run, int64_t stop_after, int64_t batches_ahead = 1) {
    int64_t polled = 0;
    LoopConfig config = loop_config(25);
    config.batches_ahead = batches_ahead;
    return run_training(runtime::test_session(), toy.spec(), config, toy_batch,
                        {.run = run, .config = {{"toy", 1}}, .should_stop = [&] {
                           return ++polled == stop_after;
                         }});
  };
  const auto whole = train(fresh_folder("whole"), -1);
  const auto part = train(fresh_folder("part"), 11);
  EXPECT_EQ(part.steps_done, 11);
  EXPECT_FALSE(part.finished);
  const auto resumed =
      train(fs::temp_directory_path() / fmt::format("hum-train-{}-part", ::getpid()), -1, 4);
  EXPECT_TRUE(resumed.finished);
  ASSERT_EQ(whole.parameters.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(whole.parameters[i].tensor, resumed.parameters[i].tensor);
  EXPECT_EQ(whole.parameters[2].tensor.as<float>()[0], 25);
}

TEST(Training, MakesBatchesAheadAtTheSameTime) {
  const Toy toy;
  std::mutex mutex;
  std::condition_variable changed;
  int64_t running = 0, most = 0;
  // The first three batches wait for each other.
  const auto batch = [&](int64_t step) {
    std::unique_lock lock(mutex);
    most = std::max(most, ++running);
    changed.notify_all();
    if (step < 3) changed.wait_for(lock, std::chrono::seconds(20), [&] { return most >= 3; });
    --running;
    lock.unlock();
    return toy_batch(step);
  };
  LoopConfig config = loop_config(6);
  config.batches_ahead = 3;
  run_training(runtime::test_session(), toy.spec(), config, batch,
               {.run = fresh_folder("ahead"), .config = {}});
  EXPECT_EQ(most, 3);
}

TEST(Training, LowersTheLossAndLogsIt) {
  const Toy toy;
  const auto run = fresh_folder("log");
  const auto result = run_training(runtime::test_session(), toy.spec(), loop_config(60), toy_batch,
                                   {.run = run, .config = {}});
  std::ifstream log(run / "log.jsonl");
  std::string line;
  std::getline(log, line);
  const Json head = parse_json(line).at("run");
  EXPECT_EQ(head.at("model"), "toy");
  EXPECT_EQ(head.at("parameters"), 3 * 2 + 2 + 1) << "the counter too";
  EXPECT_EQ(head.at("batch"), 4);
  EXPECT_EQ(head.at("sequence"), 3);
  // x W, and the gradient of W; x needs none.
  EXPECT_EQ(head.at("product_flops"), 2 * 2 * 4 * 3 * 2);
  EXPECT_EQ(head.at("dtype"), "f32");
  EXPECT_EQ(head.at("first_step"), 0);
  std::getline(log, line);
  const Json first = parse_json(line);
  EXPECT_EQ(first.at("step"), 5);
  EXPECT_GT(first.at("step_s"), 0);
  EXPECT_LT(first.at("step_s").get<double>(), first.at("seconds").get<double>());
  EXPECT_GT(first.at("processor_s"), 0);
  EXPECT_TRUE(first.contains("bias"));
  EXPECT_LT(result.final_loss, 0.5 * first.at("loss").get<double>());
}

TEST(Training, RefusesAnotherConfigurationsRun) {
  const Toy toy;
  const auto run = fresh_folder("config");
  run_training(runtime::test_session(), toy.spec(), loop_config(7), toy_batch,
               {.run = run, .config = {{"a", 1}}});
  EXPECT_THROW(run_training(runtime::test_session(), toy.spec(), loop_config(7), toy_batch,
                            {.run = run, .config = {{"a", 2}}}),
               Error);
}

TEST(Training, RefusesARunFolderThatAnotherTrainingUses) {
  const Toy toy;
  const auto run = fresh_folder("in-use");
  int64_t calls = 0;
  const auto train = [&](const std::function<void()>& before_first_step) {
    run_training(runtime::test_session(), toy.spec(), loop_config(2), toy_batch,
                 {.run = run, .config = {}, .before_first_step = before_first_step});
  };
  train([&] {
    ++calls;
    EXPECT_EQ(hum::testing::code_of([&] { train([&] { ++calls; }); }), ExitCode::kTemporary);
    EXPECT_THAT(hum::testing::message_of([&] { train([&] { ++calls; }); }),
                ::testing::AllOf(::testing::HasSubstr("another training uses this run folder"),
                                 ::testing::HasSubstr("another --run folder")));
  });
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(latest_checkpoint(run));
  EXPECT_FALSE(fs::exists(run / "training.lock"));
  std::ofstream(run / "training.lock") << "1";  // of a training that was killed
  train([&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

// The loss is that of the weights before the update.
TEST(Training, AnInfiniteGradientEndsTheRunBeforeItIsSaved) {
  const Toy toy;
  nn::TrainSpec spec = toy.spec();
  spec.loss = [&](std::span<const Value>, const nn::StepInputs&) {
    return nn::Loss{.total = graph::mean_all(graph::sqrt(toy.bias * toy.bias))};
  };
  const auto run = fresh_folder("nan");
  LoopConfig config = loop_config(1);
  try {
    run_training(runtime::test_session(), spec, config, toy_batch, {.run = run, .config = {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(error.message().starts_with("gradient_norm at step 0 is ")) << error.message();
  }
  EXPECT_FALSE(latest_checkpoint(run));
}

TEST(Training, RefusesSettingsOutOfRange) {
  const Toy toy;
  LoopConfig config = loop_config(3);
  config.checkpoint_every = 0;
  EXPECT_THROW(run_training(runtime::test_session(), toy.spec(), config, toy_batch,
                            {.run = fresh_folder("interval"), .config = {}}),
               Error);
  for (const auto set :
       {+[](LoopConfig& c) { c.validation_batches = 0; },
        +[](LoopConfig& c) { c.batches_ahead = 0; }, +[](LoopConfig& c) { c.batches_ahead = 257; },
        +[](LoopConfig& c) { c.validate_every = -1; }, +[](LoopConfig& c) { c.optimizer.ema = 1; },
        +[](LoopConfig& c) { c.optimizer.decay_share = 1.5; },
        +[](LoopConfig& c) { c.optimizer.muon.momentum = 1; }}) {
    LoopConfig other = loop_config(3);
    set(other);
    EXPECT_THROW(validate(other), Error);
  }
}

TEST(Checkpoint, ADamagedOneIsSkippedForTheOneBefore) {
  const auto run = fresh_folder("damaged");
  auto checkpoint = [](int64_t step) {
    return Checkpoint{
        step, {{"c", 1}}, {{"p.w", HostTensor::of<float>({1}, {static_cast<float>(step)})}}};
  };
  for (const int64_t step : {1, 2, 3}) save_checkpoint(run, checkpoint(step));
  EXPECT_FALSE(fs::exists(run / "step-00000001"));
  EXPECT_EQ(latest_checkpoint(run)->step, 3);
  std::ofstream(run / "step-00000003" / "state.safetensors", std::ios::app) << "x";
  EXPECT_EQ(latest_checkpoint(run)->state[0].tensor.as<float>()[0], 2);
  std::ofstream(run / "step-00000002" / "state.safetensors", std::ios::app) << "x";
  EXPECT_THROW(latest_checkpoint(run), Error) << "a run does not begin again by itself";
}

TEST(Checkpoint, DamagedOnesThatAreNewerDoNotPushOutTheOneWritten) {
  const auto run = fresh_folder("newer");
  for (const int64_t step : {8, 9}) fs::create_directories(run / fmt::format("step-{:08d}", step));
  for (const int64_t step : {1, 2, 3}) save_checkpoint(run, {step, {}, {}});
  EXPECT_FALSE(fs::exists(run / "step-00000001"));
  EXPECT_EQ(latest_checkpoint(run)->step, 3);
  const auto relative = fs::relative(run);  // as configurations name it
  save_checkpoint(relative, {4, {}, {}});
  EXPECT_EQ(latest_checkpoint(relative)->step, 4);
  EXPECT_TRUE(fs::exists(run / "step-00000003"));
}

}  // namespace
}  // namespace hum::train

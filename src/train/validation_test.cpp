// Validation: the released weights' loss without dropout, the same each time, and nothing else.
#include "train/validation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "runtime/testing.h"
#include "train/loop.h"
#include "train/testing/hidden_layers.h"

namespace hum::train {
namespace {

namespace fs = std::filesystem;
using runtime::HostTensor;
using testing::by_name;
using testing::hidden_batch;
using testing::HiddenLayers;

OptimizerConfig optimizer(double ema = 0) {
  return {.learning_rate = 0.05, .final_learning_rate = 0.05, .warm_up_steps = 0, .ema = ema};
}

std::vector<HostTensor> held_out(int64_t index) { return hidden_batch(index, "held out"); }

// Mean squared error of a model's weights, computed here: nothing is dropped.
double squared_error(const std::map<std::string, HostTensor>& weights,
                     const std::vector<HostTensor>& batch) {
  std::vector<float> x = batch[0].to_floats();
  const auto times = [](const std::vector<float>& rows, const HostTensor& matrix) {
    const auto in = static_cast<size_t>(matrix.shape().size(0)),
               out = static_cast<size_t>(matrix.shape().size(1));
    std::vector<float> product(rows.size() / in * out);
    for (size_t r = 0; r < rows.size() / in; ++r) {
      for (size_t i = 0; i < in; ++i) {
        for (size_t o = 0; o < out; ++o) {
          product[r * out + o] += rows[r * in + i] * matrix.as<float>()[i * out + o];
        }
      }
    }
    return product;
  };
  for (const char* name : {"layers.0.weight", "layers.1.weight", "head.weight"}) {
    x = times(x, weights.at(name));
  }
  const auto bias = weights.at("head.bias").as<float>(), y = batch[1].as<float>();
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = double{x[i]} + double{bias[i % bias.size()]} - double{y[i]};
    sum += error * error;
  }
  return sum / static_cast<double>(x.size());
}

TEST(Validation, IsTheLossOfTheReleasedWeightsWithoutDropout) {
  for (const bool stacked : {false, true}) {
    for (const double ema : {0.0, 0.9}) {
      const HiddenLayers model{.stacked = stacked};
      Trainer trainer(runtime::test_session(), model.spec(), optimizer(ema), 4, 1);
      for (int64_t step = 0; step < 4; ++step) trainer.run(step, hidden_batch(step));
      const auto scalars = trainer.validate(4, 0, held_out(0));
      ASSERT_EQ(scalars.size(), 2U);
      EXPECT_EQ(scalars[0].first, "loss");
      EXPECT_EQ(scalars[1].first, "distance");
      const double wanted = squared_error(by_name(trainer.released_parameters()), held_out(0));
      EXPECT_NEAR(scalars[0].second, wanted, 1e-5 * wanted) << stacked << ema;
    }
  }
}

TEST(Validation, RepeatsItselfAndLeavesTheStateAsItIs) {
  const HiddenLayers model;
  Trainer trainer(runtime::test_session(), model.spec(), optimizer(0.9), 4, 1);
  trainer.run(0, hidden_batch(0));
  const auto before = by_name(trainer.state());
  Validation validation(trainer, {held_out, 3}, 3);
  EXPECT_EQ(validation.batches(), 3);
  const auto first = validation.means(1);
  EXPECT_EQ(first, validation.means(1));
  EXPECT_EQ(by_name(trainer.state()), before);
  double loss = 0;
  for (int64_t index = 0; index < 3; ++index) {
    loss += double{trainer.validate(1, index, held_out(index))[0].second} / 3;
  }
  EXPECT_NEAR(first[0].second, loss, 1e-6);
}

class ValidatedRun : public ::testing::Test {
 protected:
  ~ValidatedRun() override { fs::remove_all(root_); }

  LoopResult run(const std::string& name, int64_t every, int64_t held_out_batches,
                 int64_t stop_after = -1) const {
    LoopConfig config;
    config.steps = 10;
    config.validate_every = every;
    config.validation_batches = 2;
    config.optimizer = optimizer();
    int64_t polled = 0;
    return run_training(runtime::test_session(), model_.spec(), config,
                        [](int64_t step) { return hidden_batch(step); },
                        {.run = root_ / name,
                         .config = {},
                         .should_stop = [&] { return ++polled == stop_after; },
                         .held_out = {held_out, held_out_batches}});
  }
  std::vector<Json> lines(const std::string& name, const char* key) const {
    std::ifstream log(root_ / name / "log.jsonl");
    std::vector<Json> found;
    for (std::string line; std::getline(log, line);) {
      const Json entry = parse_json(line);
      if (entry.contains(key)) found.push_back(entry.at(key));
    }
    return found;
  }

  HiddenLayers model_;
  fs::path root_ = fs::temp_directory_path() / fmt::format("hum-validation-{}", ::getpid());
};

TEST_F(ValidatedRun, ChangesNothingInTraining) {
  const auto plain = run("plain", 0, 5), validated = run("validated", 3, 5);
  EXPECT_EQ(by_name(plain.parameters), by_name(validated.parameters));
  EXPECT_TRUE(lines("plain", "validation").empty());
  EXPECT_TRUE(std::isnan(plain.validation_loss));
}

TEST_F(ValidatedRun, LogsTheSameWhetherItStopsOrNot) {
  const auto whole = run("whole", 3, 5);
  run("part", 3, 5, 5);
  run("part", 3, 5);
  auto a = lines("whole", "validation"), b = lines("part", "validation");
  std::vector<int64_t> steps;
  for (auto* list : {&a, &b}) {
    for (Json& line : *list) {
      EXPECT_GE(line.at("seconds").get<double>(), 0);
      line.erase("seconds");
    }
  }
  for (const Json& line : a) steps.push_back(line.at("step"));
  EXPECT_EQ(steps, (std::vector<int64_t>{3, 6, 9, 10})) << "and after the last step";
  EXPECT_EQ(a, b);
  EXPECT_TRUE(a[0].contains("distance"));
  EXPECT_EQ(a.back().at("loss").get<double>(), whole.validation_loss);
  EXPECT_LT(a.back().at("loss").get<double>(), a[0].at("loss").get<double>());
  EXPECT_EQ(lines("whole", "run")[0].at("validation_batches"), 2) << "of five";
}

TEST_F(ValidatedRun, NeedsHeldOutItems) {
  EXPECT_TRUE(std::isnan(run("none", 3, 0).validation_loss));
  EXPECT_EQ(lines("none", "run")[0].at("validation_batches"), 0);
}

}  // namespace
}  // namespace hum::train

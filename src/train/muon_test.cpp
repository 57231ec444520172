// Muon against torch.optim.Muon (tools/golden/muon.py), on stacks, and in a training step.
#include "train/muon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/fields_json.h"
#include "base/folders.h"
#include "base/safetensors.h"
#include "base/testing/refusal.h"
#include "graph/ops.h"
#include "kernels/test_session.h"
#include "runtime/testing.h"
#include "runtime/weights.h"
#include "train/testing/hidden_layers.h"

namespace hum::train {
namespace {

using graph::DType;
using graph::Value;
using hum::testing::message_of;
using runtime::golden_tensor;
using runtime::HostTensor;
using testing::by_name;
using ::testing::HasSubstr;
using testing::hidden_batch;
using testing::HiddenLayers;

double largest_distance(const HostTensor& a, const HostTensor& b) {
  const auto x = a.to_floats(), y = b.to_floats();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::abs(double{x[i]} - double{y[i]}));
  }
  return largest;
}

struct Golden {
  std::map<std::string, HostTensor> arrays;
  std::map<std::string, std::string> metadata;

  Golden() {
    const auto file = source_folder() / "tests/data/training/muon.safetensors";
    metadata = SafetensorsFile::read(file).metadata();
    for (const auto& [name, tensor] : runtime::read_tensors(file)) arrays[name] = tensor;
  }
  uint64_t seed() const { return std::stoull(metadata.at("seed")); }
  int64_t steps() const { return std::stoll(metadata.at("steps")); }
  const HostTensor& at(std::string_view run, MuonScale scale, const std::string& name) const {
    return arrays.at(fmt::format("{}.{}.{}", run, to_name(scale), name));
  }
  HostTensor gradient(const std::string& name, const graph::Dims& dims, int64_t step) const {
    HostTensor gradient =
        golden_tensor(seed(), "gradient." + name, dims, {1, 0}, static_cast<uint64_t>(step));
    const HostTensor common = golden_tensor(seed(), "common." + name, dims, {1, 1});
    for (size_t i = 0; i < gradient.as<float>().size(); ++i) {
      gradient.as<float>()[i] += common.as<float>()[i];
    }
    return gradient;
  }
};

// Weights and momentum of the golden file's matrix after its steps.
std::vector<HostTensor> trained(const Golden& golden, const std::string& name,
                                const graph::Dims& dims, const MuonConfig& config) {
  const Json options = parse_json(golden.metadata.at("options"));
  EXPECT_EQ(options.at("momentum").get<double>(), config.momentum);
  OptimizerConfig optimizer{.weight_decay = options.at("weight_decay").get<double>(),
                            .clip_norm = 0,
                            .kind = OptimizerKind::kMuon,
                            .muon = config};
  const graph::Shape shape{DType::kF32, dims};
  const Value p = graph::parameter("p", shape), m = graph::parameter("m", shape),
              g = graph::parameter("g", shape);
  const Value one = graph::constant(1, {DType::kF32, {}});
  const Update update = optimizer_update(optimizer, {{p}, {m}, {Value()}}, {g}, one,
                                         one * options.at("lr").get<double>());
  const graph::Function function{.name = "muon",
                                 .parameters = {p, m, g},
                                 .results = {update.state.parameters[0], update.state.means[0]}};
  const auto program = kernels::kernel_session().compile(function.name, function);
  std::vector<HostTensor> state = {golden_tensor(golden.seed(), name, dims, {0.5, 0}),
                                   HostTensor(shape)};
  for (int64_t step = 0; step < golden.steps(); ++step) {
    state =
        program.run(std::vector<HostTensor>{state[0], state[1], golden.gradient(name, dims, step)});
  }
  return state;
}

const std::map<std::string, graph::Dims> kShapes = {
    {"wide", {24, 40}}, {"tall", {56, 16}}, {"square", {32, 32}}};

TEST(Muon, TakesTheStepsOfPyTorchs) {
  const Golden golden;
  for (const auto scale :
       {MuonScale::kOriginal, MuonScale::kMatchRmsAdamW, MuonScale::kSpectralUnclamped}) {
    for (const auto& [name, dims] : kShapes) {
      SCOPED_TRACE(fmt::format("{} {}", to_name(scale), name));
      const HostTensor& torch = golden.at("bf16", scale, name);
      const HostTensor& exact = golden.at("exact", scale, name);
      const HostTensor& momentum = golden.at("exact", scale, "momentum." + name);
      const auto f32 = trained(golden, name, dims, {.scale = scale, .bf16_products = false});
      EXPECT_LT(largest_distance(f32[0], exact), 1e-5);
      EXPECT_LT(largest_distance(f32[1], momentum), 1e-6);
      // Both are about as far from f64, and so up to twice as far from each other.
      const double spread = largest_distance(torch, exact);
      const auto bf16 = trained(golden, name, dims, {.scale = scale});
      EXPECT_LT(largest_distance(bf16[0], exact), 1.5 * spread);
      EXPECT_LT(largest_distance(bf16[0], torch), 2 * spread);
    }
  }
}

TEST(Muon, ScalesByTheShape) {
  EXPECT_DOUBLE_EQ(muon_factor(MuonScale::kOriginal, 40, 10), 2);
  EXPECT_DOUBLE_EQ(muon_factor(MuonScale::kOriginal, 10, 40), 1);
  EXPECT_DOUBLE_EQ(muon_factor(MuonScale::kMatchRmsAdamW, 10, 100), 2);
  EXPECT_DOUBLE_EQ(muon_factor(MuonScale::kSpectralUnclamped, 10, 40), 0.5);
}

TEST(Muon, TreatsEachMatrixOfAStackAlone) {
  const graph::Dims one = {12, 20};
  const Value a = graph::parameter("a", {DType::kF32, one}),
              b = graph::parameter("b", {DType::kF32, one});
  const HostTensor first = golden_tensor(3, "a", one, {1, 0}),
                   second = golden_tensor(3, "b", one, {100, 0});
  const auto out =
      runtime::evaluate({graph::stack({orthogonalised(a, true), orthogonalised(b, true)}, 0),
                         orthogonalised(graph::stack({a, b}, 0), true)},
                        {a, b}, std::vector<HostTensor>{first, second});
  EXPECT_EQ(out[0], out[1]);
}

OptimizerConfig muon_config() {
  return {.learning_rate = 0.02,
          .final_learning_rate = 0.02,
          .warm_up_steps = 0,
          .weight_decay = 0.01,
          .kind = OptimizerKind::kMuon};
}

TEST(MuonTraining, KeepsNoSquaresOfHiddenMatrices) {
  const HiddenLayers model;
  std::vector<std::string> squares;
  const StepFunction step = step_function(model.spec(), muon_config());
  for (const StateSlot& slot : step.state) {
    if (slot.names[0].starts_with("v.")) squares.push_back(slot.names[0]);
  }
  EXPECT_THAT(squares, ::testing::ElementsAre("v.head.weight", "v.head.bias"));
  graph::verify(step.function);
}

// The largest distance between the states of one model with a stack and without.
void expect_stacking_changes_nothing(WeightsType weights, int64_t steps, double tolerance) {
  const HiddenLayers apart, stacked{.stacked = true};
  OptimizerConfig config = muon_config();
  config.weights = weights;
  config.ema = 0.9;
  config.muon.bf16_products = false;  // bf16 turns last bits into noise along small directions
  Trainer one(runtime::test_session(), apart.spec(), config, steps, 1);
  Trainer other(runtime::test_session(), stacked.spec(), config, steps, 1);
  ASSERT_EQ(step_function(stacked.spec(), config).state[0].names.size(), 2U);
  for (int64_t step = 0; step < steps; ++step) {
    one.run(step, hidden_batch(step));
    other.run(step, hidden_batch(step));
  }
  const auto a = by_name(one.state()), b = by_name(other.state());
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    EXPECT_LE(largest_distance(tensor, b.at(name)), tolerance) << name;
  }
}

TEST(MuonTraining, DoesNotDependOnStacking) {
  expect_stacking_changes_nothing(WeightsType::kF32, 5, 1e-5);
  // A last bit of f32 may round to the other neighbour in bf16.
  expect_stacking_changes_nothing(WeightsType::kBF16, 1, 0x1p-8);
}

// The first update of a hidden matrix is orthogonal, whatever the size of the gradient: all its
// singular values are near 1, so its Frobenius norm is near the root of their number.
TEST(MuonTraining, MovesHiddenMatricesAlongAllDirectionsAlike) {
  const HiddenLayers model;
  OptimizerConfig config = muon_config();
  config.weight_decay = 0;
  config.muon = {.scale = MuonScale::kOriginal, .bf16_products = false};
  Trainer trainer(runtime::test_session(), model.spec(), config, 1, 1);
  const auto before = by_name(trainer.parameters());
  trainer.run(0, hidden_batch(0));
  const auto after = by_name(trainer.parameters());
  double squares = 0;
  for (size_t i = 0; i < before.at("layers.0.weight").as<float>().size(); ++i) {
    const double moved = double{after.at("layers.0.weight").as<float>()[i]} -
                         double{before.at("layers.0.weight").as<float>()[i]};
    squares += moved * moved;
  }
  // The gradient has the rank of the head.
  const double length = std::sqrt(squares) / config.learning_rate;
  EXPECT_GT(length, 0.6 * std::sqrt(double{testing::kOut}));
  EXPECT_LT(length, 1.3 * std::sqrt(double{testing::kOut}));
}

TEST(MuonTraining, Learns) {
  const HiddenLayers model;
  Trainer trainer(runtime::test_session(), model.spec(), muon_config(), 300, 1);
  const double before = trainer.validate(0, 0, hidden_batch(0, "held out"))[0].second;
  for (int64_t step = 0; step < 300; ++step) trainer.run(step, hidden_batch(step));
  EXPECT_LT(trainer.validate(300, 0, hidden_batch(0, "held out"))[0].second, 0.3 * before);
}

TEST(MuonTraining, NeedsAHiddenMatrix) {
  const HiddenLayers model;
  nn::TrainSpec spec = model.spec();
  spec.train_only = "head.";
  EXPECT_THAT(message_of([&] { step_function(spec, muon_config()); }),
              HasSubstr("trains no hidden matrix"));
}

}  // namespace
}  // namespace hum::train

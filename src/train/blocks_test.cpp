// A 12-block transformer's step: recomputation, stacking, memory limits and estimates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/rng.h"
#include "graph/ops.h"
#include "graph/stablehlo/print.h"
#include "kernels/test_session.h"
#include "nn/transformer.h"
#include "runtime/testing.h"
#include "train/training_step.h"

namespace hum::train {
namespace {

using graph::DType;
using graph::RecomputePolicy;
using graph::Value;
using runtime::HostTensor;
using ::testing::HasSubstr;

// A transformer without an embedding, trained to reproduce its input.
struct Deep {
  nn::TransformerConfig config;
  int64_t batch, length;
  nn::ParameterList list;
  nn::Transformer transformer;

  explicit Deep(int64_t layers, int64_t batch = 4, int64_t length = 64)
      : config{.layers = layers, .width = 64, .heads = 4, .kv_heads = 4, .feed_forward = 192},
        batch(batch),
        length(length),
        transformer(nn::Scope(list), config) {}

  nn::TrainSpec spec() const {
    return {.name = "deep",
            .parameters = &list,
            .batch = {{"x", {DType::kF32, {batch, length, config.width}}},
                      {"mask", {DType::kF32, {batch, length}}}},
            .loss =
                [this](std::span<const Value> in, const nn::StepInputs& step) {
                  const Value y = transformer(in[0], in[1], step.blocks);
                  return nn::Loss{.total = graph::mean_all((y - in[0]) * (y - in[0]))};
                },
            .units_per_batch = 1};
  }
  std::vector<HostTensor> inputs(int64_t step) const {
    Rng rng(3, "deep", static_cast<uint64_t>(step));
    HostTensor x({DType::kF32, {batch, length, config.width}}),
        mask({DType::kF32, {batch, length}});
    for (float& value : x.as<float>()) value = static_cast<float>(rng.normal());
    std::ranges::fill(mask.as<float>(), 1.0F);
    return {x, mask};
  }
};

OptimizerConfig optimizer() {
  OptimizerConfig config;
  config.warm_up_steps = 0;
  return config;
}

struct Outcome {
  std::vector<float> scalars;
  std::vector<NamedTensor> state;
  int64_t bytes = 0, estimate = 0;
};
Outcome steps(const Deep& model, const nn::BlockOptions& blocks,
              runtime::Session& session = runtime::test_session()) {
  Trainer trainer(session, model.spec(), optimizer(), 10, 1, {.blocks = blocks});
  Outcome outcome;
  for (int64_t step = 0; step < 2; ++step) {
    outcome.scalars = trainer.run(step, model.inputs(step)).scalars;
  }
  outcome.state = trainer.state();
  outcome.bytes = trainer.memory_stats()->total_bytes();
  outcome.estimate =
      session.estimate_memory(step_function(model.spec(), optimizer(), blocks).function)
          .total_bytes();
  return outcome;
}

void expect_bit_equal(const Outcome& one, const Outcome& other) {
  EXPECT_EQ(one.scalars, other.scalars);
  ASSERT_EQ(one.state.size(), other.state.size());
  for (size_t i = 0; i < one.state.size(); ++i) {
    EXPECT_EQ(one.state[i].name, other.state[i].name);
    EXPECT_EQ(one.state[i].tensor, other.state[i].tensor) << one.state[i].name;
  }
}

TEST(Recompute, ChangesNoBit) {
  const Deep model(3);
  const Outcome none = steps(model, {});
  for (const auto policy : {RecomputePolicy::kSelective, RecomputePolicy::kFull}) {
    const Outcome again = steps(model, {.recompute = policy});
    expect_bit_equal(none, again);
    EXPECT_LT(again.bytes, none.bytes);
  }
}

TEST(SlowRecompute, CutsActivationMemoryOfTwelveBlocksAndChangesNoBit) {
  const Deep model(12);
  const auto outcome_of = [&](const nn::BlockOptions& blocks) {
    return steps(model, blocks, kernels::kernel_session());
  };
  const Outcome none = outcome_of({});
  const Outcome selective = outcome_of({.recompute = RecomputePolicy::kSelective});
  const Outcome half = outcome_of({.recompute = RecomputePolicy::kFull, .recompute_every = 2});
  const Outcome full = outcome_of({.recompute = RecomputePolicy::kFull});
  // State: three copies of the parameters. The rest are activations.
  const int64_t state = 12 * model.list.element_count();
  const auto activations = [&](const Outcome& outcome) {
    return static_cast<double>(outcome.bytes - state);
  };
  for (const Outcome* outcome : {&none, &selective, &half, &full}) {
    expect_bit_equal(none, *outcome);
    EXPECT_NEAR(static_cast<double>(outcome->estimate), static_cast<double>(outcome->bytes),
                0.15 * static_cast<double>(outcome->bytes));
    RecordProperty("activation_bytes", std::to_string(outcome->bytes - state));
  }
  // Attention in blocks keeps no scores, so selective recomputation saves norms and activations.
  EXPECT_LT(activations(selective), 0.8 * activations(none));
  EXPECT_LT(activations(half), 0.7 * activations(none));
  EXPECT_LT(activations(full), 0.4 * activations(none));
}

TEST(StackedLayers, LearnWhatSingleOnesDo) {
  const Deep model(4);
  const Outcome single = steps(model, {}), stacked = steps(model, {.stack_layers = true});
  EXPECT_NEAR(single.scalars[0], stacked.scalars[0], 1e-5 * single.scalars[0]);
  ASSERT_EQ(single.state.size(), stacked.state.size());
  for (const auto& [name, tensor] : single.state) {
    const auto other = std::ranges::find(stacked.state, name, &NamedTensor::name);
    ASSERT_NE(other, stacked.state.end()) << name;
    const auto a = tensor.as<float>(), b = other->tensor.as<float>();
    ASSERT_EQ(tensor.shape(), other->tensor.shape());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], name[0] == 'p' ? 2e-4 : 1e-4) << name << " at " << i;
    }
  }
}

TEST(StackedLayers, RecomputeToo) {
  const Deep model(4);
  const Outcome kept = steps(model, {.stack_layers = true});
  for (const auto policy : {RecomputePolicy::kSelective, RecomputePolicy::kFull}) {
    const Outcome again = steps(model, {.recompute = policy, .stack_layers = true});
    EXPECT_NEAR(kept.scalars[0], again.scalars[0], 1e-5 * kept.scalars[0]);
    EXPECT_LT(again.bytes, kept.bytes);
  }
}

TEST(StackedLayers, MakeAProgramThatDoesNotGrowWithDepth) {
  const auto size = [](int64_t layers, bool stack) {
    const Deep model(layers);
    const auto step = step_function(model.spec(), optimizer(), {.stack_layers = stack});
    return graph::print_module(step.function).size();
  };
  EXPECT_LT(size(24, true), 1.1 * static_cast<double>(size(4, true)));
  EXPECT_GT(size(24, false), 4 * size(4, false));
}

TEST(StackedLayers, AreStoredLayerByLayer) {
  const Deep model(3);
  Trainer stacked(runtime::test_session(), model.spec(), optimizer(), 10, 1,
                  {.blocks = {.stack_layers = true}});
  stacked.run(0, model.inputs(0));
  const auto state = stacked.state();
  Trainer single(runtime::test_session(), model.spec(), optimizer(), 10, 2);
  single.load(state, /*whole=*/true);
  Trainer again(runtime::test_session(), model.spec(), optimizer(), 10, 3,
                {.blocks = {.stack_layers = true}});
  again.load(single.state(), /*whole=*/true);
  const auto back = again.state();
  for (size_t i = 0; i < state.size(); ++i) EXPECT_EQ(state[i].tensor, back[i].tensor);
  EXPECT_EQ(stacked.parameters()[4].name, model.list.all()[4].name);
  EXPECT_EQ(stacked.parameters()[4].tensor.shape(), model.list.all()[4].shape);
}

TEST(StackedLayers, RefuseToRecomputeEveryOther) {
  const Deep model(4);
  EXPECT_THROW(
      step_function(
          model.spec(), optimizer(),
          {.recompute = RecomputePolicy::kFull, .recompute_every = 2, .stack_layers = true}),
      Error);
}

TEST(MemoryLimit, RefusesWithTheLargestArraysAndWhatWouldHelp) {
  const Deep model(12, 16, 128);
  try {
    Trainer(runtime::test_session(), model.spec(), optimizer(), 10, 1,
            {.memory_limit_bytes = 40'000'000});
    FAIL() << "the step was compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kConfig);
    EXPECT_THAT(error.message(), HasSubstr("more than the limit of 40.0 MB"));
    EXPECT_THAT(error.message(), HasSubstr("f32[16,4,128,1,128]"));
    EXPECT_THAT(error.message(), HasSubstr("made at "));
    EXPECT_THAT(error.hint(), HasSubstr("loop.recompute: full needs"));
    EXPECT_THAT(error.hint(), HasSubstr("a smaller stage.batch"));
  }
  EXPECT_EQ(runtime::test_session().counters().failed_probes, 0);
}

TEST(Donation, StepsUpdateTheStateInPlace) {
  const Deep model(4);
  const auto step = step_function(model.spec(), optimizer());
  const auto program =
      runtime::test_session().compile("deep", step.function, {.optimize_memory = true});
  int64_t state = 0;
  for (const StateSlot& slot : step.state) state += slot.shape.bytes();
  const auto stats = *program.memory_stats();
  EXPECT_EQ(stats.alias_bytes, state) << "every array of the state is written over";
  EXPECT_LT(stats.output_bytes - stats.alias_bytes, 4096) << "only the scalars are new";
  // Temporaries hold no copy of the weights beside the activations.
  const Deep tiny_batch(4, 1, 2);
  const auto small = step_function(tiny_batch.spec(), optimizer());
  const auto small_stats = *runtime::test_session()
                                .compile("deep", small.function, {.optimize_memory = true})
                                .memory_stats();
  EXPECT_LT(small_stats.temporary_bytes, 4 * model.list.element_count() * 3 / 2)
      << "gradients, and no copies of weights or moments";

  // At run time, each donated array of state is replaced by a new one.
  std::vector<runtime::Tensor> arguments;
  for (const Value& p : step.function.parameters) {
    arguments.push_back(runtime::test_session().to_device(HostTensor(p.shape())));
  }
  const auto results = program.run(arguments);
  for (size_t i = 0; i < step.state.size(); ++i) {
    EXPECT_TRUE(arguments[i].is_deleted()) << step.state[i].names[0];
    EXPECT_FALSE(results[i].is_deleted());
  }
}

}  // namespace
}  // namespace hum::train

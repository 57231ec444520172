// Tests of the planner's model of a step: parameters, FLOPs, memory, time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/refusal.h"
#include "plan/memory.h"
#include "plan/named_models.h"
#include "plan/step_time.h"

namespace hum::plan {
namespace {

using graph::RecomputePolicy;
using hum::testing::message_of;
using ::testing::HasSubstr;

Transformer gpt3() { return named_model("gpt3-175b"); }

Layout megatron() {
  return {.dp = 1,
          .tp = 8,
          .pp = 8,
          .global_batch = 64,
          .micro_batch = 1,
          .recompute = RecomputePolicy::kFull};
}

TEST(Transformer, CountsParametersAsTheModelsDo) {
  EXPECT_EQ(named_model("llama-7b").parameters(), 6738415616);  // meta-llama/Llama-2-7b
  EXPECT_EQ(named_model("llama-8b").parameters(), 8030261248);  // meta-llama/Llama-3.1-8B
  EXPECT_NEAR(gpt3().parameters() / 1e9, 174.6, 0.1);
}

TEST(Transformer, CountsFlopsByTheFormulaOfNarayanan) {
  const Transformer m = gpt3();
  const double s = 2048, h = 12288, layers = 96, v = 51200;
  EXPECT_NEAR(m.flops_per_sequence() /
                  (72 * s * layers * h * h * (1 + s / (6 * h) + v / (12 * layers * h))),
              1, 1e-12);
}

TEST(Memory, FollowsTheFormulasOfKorthikanti) {
  const Transformer m = gpt3();
  Layout l = megatron();
  // The first stage holds as many activations as all layers have.
  const double sbh = 2048.0 * 12288, layers = 96;
  const double scores = 5.0 * 96 * 2048 / 12288;
  const auto activations = [&](RecomputePolicy policy, bool sequence_parallel) {
    l.recompute = policy;
    l.sequence_parallel = sequence_parallel;
    return memory_per_device(m, l).activations / (sbh * layers);
  };
  EXPECT_DOUBLE_EQ(activations(RecomputePolicy::kNone, false), 10 + 24.0 / 8 + scores / 8);
  EXPECT_DOUBLE_EQ(activations(RecomputePolicy::kNone, true), (34 + scores) / 8);
  EXPECT_DOUBLE_EQ(activations(RecomputePolicy::kSelective, true), 34.0 / 8);
  EXPECT_DOUBLE_EQ(activations(RecomputePolicy::kSelective, false), 10 + 24.0 / 8);
  // full keeps the inputs, and one block while it is recomputed
  EXPECT_NEAR(activations(RecomputePolicy::kFull, false), 2, 0.4);
}

// Bytes relative to the hidden states, counted by hand: 96 heads x 2048 positions = 16 x 12288.
TEST(Memory, CountsWhatABlocksBackwardPassAndItsCollectivesHold) {
  const Transformer m = gpt3();
  Layout l = megatron();
  const auto parts = [&] {
    const Memory memory = memory_per_device(m, l);
    EXPECT_DOUBLE_EQ(memory.total(), memory.weights + memory.gradients + memory.optimizer +
                                         memory.activations + memory.logits + memory.temporaries +
                                         memory.collectives);
    const double sbh = 2048.0 * 12288;
    return std::pair(memory.temporaries / sbh, memory.collectives / sbh);
  };
  using Pair = std::pair<double, double>;
  const double inside_attention = (8 + 4 * 16) / 8.0, inside_mlp = 4 * 4 / 8.0;
  EXPECT_EQ(parts(), Pair(2 + inside_attention, 2));
  l.sequence_parallel = true;
  EXPECT_EQ(parts(), Pair(2 / 8.0 + inside_attention, 4 + 2 / 8.0));
  l.recompute = RecomputePolicy::kSelective;  // scores are recomputed
  EXPECT_EQ(parts(), Pair(2 / 8.0 + inside_attention + 5 * 16 / 8.0, 4 + 2 / 8.0));
  l.flash_attention = true;
  EXPECT_EQ(parts(), Pair(2 / 8.0 + inside_mlp, 4 + 2 / 8.0));
}

TEST(Memory, GivesTheLogitsRoomToTemporaries) {
  const Transformer small = {
      .hidden = 256, .layers = 8, .heads = 4, .vocab = 65536, .sequence = 512};
  const Layout one{.global_batch = 2, .micro_batch = 2, .flash_attention = true};
  const Memory memory = memory_per_device(small, one);
  EXPECT_GT(memory.logits, 2 * 512 * 256 * 22.0) << "more than a block's backward pass needs";
  EXPECT_EQ(memory.temporaries, 0);
  EXPECT_EQ(memory.collectives, 0) << "one device";
}

TEST(Memory, StateIs18BytesAParameterAndLessWithADistributedOptimizer) {
  Layout l = megatron();
  l.dp = 4;
  const double parameters = parameters_per_device(gpt3(), l);
  const auto state = [&] {
    const Memory memory = memory_per_device(gpt3(), l);
    return (memory.weights + memory.gradients + memory.optimizer) / parameters;
  };
  EXPECT_DOUBLE_EQ(state(), 18);
  l.distributed_optimizer = true;
  EXPECT_DOUBLE_EQ(state(), 6 + 12.0 / 4);
}

class Step : public ::testing::Test {
 protected:
  double seconds(const Layout& l) const {
    return step_time(model, l, device, device.prior).total();
  }
  Hardware hardware;
  Device device = hardware.at("a100");
  Transformer model = gpt3();
};

TEST_F(Step, OnPerfectHardwareTakesItsFlops) {
  device.memory_gb_per_s.value = device.link_gb_per_s.value = device.network_gb_per_s.value = 1e9;
  const Efficiency perfect{1, 1, 1e-9, 1, 1, 1e-9};
  Layout l = megatron();
  l.recompute = RecomputePolicy::kNone;
  const StepTime time = step_time(model, l, device, perfect);
  const double flops = 64 * model.flops_per_sequence() / 64;
  // the last stage computes the head beside its layers: 8 times its share
  EXPECT_NEAR(time.compute / (flops / 312e12), 1 + 7 * 51200.0 / (12 * 96 * 12288 * 1.03), 2e-3);
  EXPECT_NEAR(time.bubble / time.compute, 7.0 / 64, 5e-3);
  EXPECT_LT(time.host + time.gradients, 1e-6);
}

TEST_F(Step, InterleavingShortensTheBubble) {
  Layout l = megatron();
  const double plain = step_time(model, l, device, device.prior).bubble;
  l.interleave = 3;
  EXPECT_NEAR(step_time(model, l, device, device.prior).bubble, plain / 3, 0.02 * plain);
}

TEST_F(Step, RecomputationCostsAboutAThirdAndSelectiveLittle) {
  Layout l = megatron();
  const double full = seconds(l);
  l.recompute = RecomputePolicy::kSelective;
  const double selective = seconds(l);
  l.recompute = RecomputePolicy::kNone;
  EXPECT_NEAR(full / seconds(l), 4.0 / 3, 0.05);
  EXPECT_GT(selective, seconds(l));
  EXPECT_LT(selective, 1.12 * seconds(l));
}

TEST_F(Step, TensorParallelismOverNodesIsSlowerThanWithin) {
  Layout within = megatron(), across = megatron();
  across.tp = 16;
  across.pp = 4;
  const auto share = [&](const Layout& l) {
    const StepTime time = step_time(model, l, device, device.prior);
    return time.tensor_parallel / time.total();
  };
  EXPECT_GT(share(across), 2 * share(within));
}

TEST_F(Step, TinyWorkIsBoundByTheHost) {
  model = {.hidden = 256, .layers = 8, .heads = 4, .vocab = 1024, .sequence = 128};
  const Layout l{.global_batch = 1, .micro_batch = 1};
  EXPECT_GT(seconds(l), 8 * device.prior.host_ms_per_layer * 1e-3);
}

TEST_F(Step, FlashAttentionPaysMoreTheLongerTheSequence) {
  const auto gain = [&](int64_t sequence) {
    model.sequence = sequence;
    Layout l = megatron();
    const double plain = seconds(l);
    l.flash_attention = true;
    return plain / seconds(l);
  };
  EXPECT_GT(gain(2048), 1);
  EXPECT_GT(gain(16384), 1.3 * gain(2048));
}

TEST_F(Step, FasterHardwareIsNeverSlower) {
  for (Figure Device::*figure : {&Device::peak_tflops, &Device::memory_gb_per_s,
                                 &Device::link_gb_per_s, &Device::network_gb_per_s}) {
    Layout l = megatron();
    l.dp = 8;
    l.global_batch = 512;
    const double before = seconds(l);
    Device faster = device;
    (faster.*figure).value *= 2;
    EXPECT_LT(step_time(model, l, faster, device.prior).total(), before);
  }
}

TEST_F(Step, StagesWithoutABlockAtTheEndsLieBetween) {
  Layout l = megatron();
  const double full = seconds(l);
  model.layers -= 2;
  const double without_two = seconds(l);
  model.layers -= l.pp - 2;
  EXPECT_LE(without_two, full);
  EXPECT_LT(seconds(l), without_two);
}

TEST_F(Step, AMissingMicroBatchIsTheFastestThatFits) {
  Layout l = megatron();
  l.micro_batch = 0;
  const Layout found = complete_layout(model, l, device, device.prior);
  EXPECT_GT(found.micro_batch, 0);
  EXPECT_LE(memory_per_device(model, found).total(), 80e9);
  Layout one = found;
  one.micro_batch = one.interleave = 1;
  EXPECT_LE(seconds(found), seconds(one));
  l.interleave = 7;  // without a micro-batch it is also chosen
  EXPECT_EQ(complete_layout(model, l, device, device.prior).interleave, found.interleave);
  l.tp = l.pp = 1;
  EXPECT_THAT(message_of([&] { complete_layout(model, l, device, device.prior); }),
              HasSubstr("no micro-batch fits"));
}

TEST(Layout, EmbeddingAndHeadMayTakeTheirStagesBlocks) {
  const auto split = [](int64_t layers, int64_t pp) {
    return split_blocks(layers, pp, StageSplit::kShortEnds);
  };
  EXPECT_EQ(split(96, 8)->blocks, 12);
  EXPECT_FALSE(split(96, 8)->short_last);
  EXPECT_EQ(split(126, 16)->blocks, 8);  // Llama 3 405B
  EXPECT_TRUE(split(126, 16)->short_first);
  EXPECT_EQ(split(70, 12)->blocks, 6);  // BLOOM
  EXPECT_EQ(split(31, 8)->blocks, 4);
  EXPECT_FALSE(split(31, 8)->short_first);
  EXPECT_TRUE(split(31, 8)->short_last);
  EXPECT_FALSE(split(32, 12));
  EXPECT_FALSE(split(48, 50)) << "stages of one block";
  EXPECT_FALSE(split_blocks(126, 16, StageSplit::kEqual));
}

TEST(Layout, SaysWhatDoesNotDivideAndWhatIsNearest) {
  const auto message = [](auto change) {
    Layout l = megatron();
    change(l);
    return message_of([&] { validate(gpt3(), l); });
  };
  EXPECT_THAT(message([](Layout& l) { l.tp = 7; }), HasSubstr("tp = 7 does not divide 96 heads"));
  EXPECT_THAT(message([](Layout& l) { l.tp = 7; }), HasSubstr("nearest tp that does is 6"));
  EXPECT_THAT(message([](Layout& l) { l.pp = 50; }), HasSubstr("nearest pp that does is 48"));
  EXPECT_THAT(message([](Layout& l) { l.dp = 3; }), HasSubstr("global batch"));
  EXPECT_THAT(message([](Layout& l) { l.dp = 0; }), HasSubstr("must be positive"));
  EXPECT_THAT(message([](Layout& l) { l.micro_batch = 5; }), HasSubstr("micro batch = 5"));
  EXPECT_THAT(message([](Layout& l) { l.interleave = 5; }), HasSubstr("interleave = 5"));
}

}  // namespace
}  // namespace hum::plan

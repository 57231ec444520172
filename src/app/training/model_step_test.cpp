// Memory of training steps from configurations: the graph's estimate against the compiler's report.
#include "app/training/model_step.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/test_session.h"
#include "models/llama/model.h"
#include "train/training_step.h"

namespace hum::app {
namespace {

using graph::RecomputePolicy;

void expect_near_estimate(runtime::Session& session, const nn::TrainSpec& spec,
                          RecomputePolicy policy) {
  const auto traced = train::step_function(spec, {}, {.recompute = policy});
  const auto estimate = session.estimate_memory(traced.function);
  const auto stats =
      *session.compile(spec.name, traced.function, {.optimize_memory = true}).memory_stats();
  const auto actual = static_cast<double>(stats.total_bytes());
  const auto estimated = static_cast<double>(estimate.total_bytes());
  EXPECT_NEAR(estimated, actual, 0.15 * actual)
      << spec.name << " " << to_name(policy) << ": temporaries " << estimate.temporary_bytes
      << " estimated, " << stats.temporary_bytes << " compiled";
  ::testing::Test::RecordProperty(fmt::format("{}_of_compiled", to_name(policy)),
                                  fmt::format("{:.3f}", estimated / actual));
}

// With kernels: keeping everything, and with selective recomputation.
void expect_near_estimates(const nn::TrainSpec& spec) {
  for (const auto policy : {RecomputePolicy::kNone, RecomputePolicy::kSelective}) {
    expect_near_estimate(kernels::kernel_session(), spec, policy);
  }
}

const models::llama::LlamaConfig kLlama = {
    .transformer = {.layers = 6, .width = 256, .heads = 8, .kv_heads = 4, .feed_forward = 832},
    .vocabulary = 8192};

TEST(SlowMemoryEstimate, IsNearTheCompilersAccountOfTheCodec) {
  expect_near_estimates(read_model_step(configuration_path("codec"), 4).spec);
}
TEST(SlowMemoryEstimate, IsNearTheCompilersAccountOfTheCoarseModel) {
  expect_near_estimates(read_model_step(configuration_path("coarse"), 4).spec);
}
TEST(SlowMemoryEstimate, IsNearTheCompilersAccountOfALlama) {
  const models::llama::Llama model(kLlama);
  for (const auto compute : {graph::DType::kF32, graph::DType::kBF16}) {
    expect_near_estimates(model.train_spec({.batch = 4, .frames = 256, .compute = compute}));
  }
}
// Without the kernel, the backward pass repeats ops of the forward pass. The compiler merges the
// two and keeps the result in between.
TEST(SlowMemoryEstimate, CountsWhatPlainAttentionKeepsForItsGradient) {
  const models::llama::Llama model(kLlama);
  expect_near_estimate(kernels::plain_session(), model.train_spec({.batch = 4, .frames = 256}),
                       RecomputePolicy::kNone);
}

}  // namespace
}  // namespace hum::app

// Training steps from configurations: what the graph says they need against the compiler's account.
#include "cli/model_step.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "runtime/testing.h"
#include "train/step.h"

namespace hum::cli {
namespace {

void expect_near_estimate(const std::string& name, int64_t batch) {
  const ModelStep step = read_model_step(model_config_path(name), batch);
  const auto traced = train::step_function(step.spec, step.loop.optimizer);
  runtime::Session& session = runtime::test_session();
  const auto estimate = session.estimate_memory(traced.function);
  const auto stats =
      *session.compile(name, traced.function, {.optimize_memory = true}).memory_stats();
  const auto actual = static_cast<double>(stats.total_bytes());
  EXPECT_NEAR(static_cast<double>(estimate.total_bytes()), actual, 0.15 * actual)
      << name << ": temporaries " << estimate.temporary_bytes << " estimated, "
      << stats.temporary_bytes << " compiled";
}

TEST(SlowMemoryEstimate, IsNearTheCompilersAccountOfTheCodec) { expect_near_estimate("codec", 4); }
TEST(SlowMemoryEstimate, IsNearTheCompilersAccountOfTheCoarseModel) {
  expect_near_estimate("coarse", 4);
}

TEST(ModelStep, KnowsEachConfigurationsModel) {
  for (const char* name : {"codec", "codec-decoder", "voice", "voice-balance", "upsampler",
                           "coarse", "coarse-385m", "tiny"}) {
    const ModelStep step = read_model_step(model_config_path(name));
    EXPECT_TRUE(std::string(name).starts_with(step.spec.name) || name == std::string("tiny"))
        << name << " was taken for " << step.spec.name;
  }
  EXPECT_THROW(model_config_path("nothing"), Error);
}

}  // namespace
}  // namespace hum::cli

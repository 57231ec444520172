// Training runs against PyTorch's in f64, from the same weights on the same batches: loss at every
// step, first gradients, AdamW's state at the end. The first 10 or 20 of 200 steps in `make test`,
// all in `make test-slow`.
#include "kernels/table.h"
#include "tests/parity/training_golden.h"
#include "tests/parity/training_runs.h"

namespace hum {
namespace {

using graph::DType;

// Never closed: the plugin's threads may outlive main.
runtime::Session& session() {
  static auto* session = new runtime::Session({.kernels = kernels::table(),
                                               .use_kernel = kernels::available,
                                               .instruction_set = kernels::instruction_set()});
  return *session;
}

void expect_f32_parity(const TrainingRun& run, int64_t steps) {
  const TrainingGolden& golden = run.golden;
  const auto spec = run.spec(DType::kF32);
  train::Trainer trainer(session(), spec, golden.optimizer(), golden.number("steps"), 1);
  trainer.load(run.initial(*spec.parameters), /*whole=*/false);
  const auto name_of = [&](const std::string& name) { return run.golden_name(name); };
  const auto bounds = loss_bounds(golden);
  double worst = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const auto result = trainer.run(step, run.batch(step));
    const double wanted = golden.arrays.at("loss")[static_cast<size_t>(step)];
    const double apart = std::abs(result.scalars[0] / wanted - 1);
    EXPECT_LE(apart, bounds[static_cast<size_t>(step)]) << "step " << step << ": " << wanted;
    worst = std::max(worst, apart);
    if (step == 0) expect_gradients(golden, trainer, result.scalars[1], name_of);
  }
  ::testing::Test::RecordProperty("loss_apart", fmt::format("{:.2e}", worst));
  if (steps == golden.number("steps")) expect_states(golden, trainer, 1e-3, name_of);
}

void expect_bf16_parity(const TrainingRun& run, int64_t steps) {
  const auto spec = run.spec(DType::kBF16);
  train::Trainer trainer(session(), spec, run.golden.optimizer(), run.golden.number("steps"), 1);
  trainer.load(run.initial(*spec.parameters), /*whole=*/false);
  double worst = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const auto result = trainer.run(step, run.batch(step));
    const double wanted = run.golden.arrays.at("loss_bf16")[static_cast<size_t>(step)];
    const double apart = std::abs(result.scalars[0] / wanted - 1);
    EXPECT_LE(apart, 0.01) << "step " << step << ": " << wanted;
    worst = std::max(worst, apart);
  }
  ::testing::Test::RecordProperty("loss_apart", fmt::format("{:.2e}", worst));
}

TEST(LlamaTraining, BeginsAsPyTorchs) { expect_f32_parity(LlamaRun(), 10); }
TEST(CoarseTraining, BeginsAsPyTorchs) { expect_f32_parity(CoarseRun(), 20); }
TEST(LlamaTraining, SlowAllStepsArePyTorchs) {
  const LlamaRun run;
  expect_f32_parity(run, run.golden.number("steps"));
}
TEST(LlamaTraining, SlowAllStepsArePyTorchsAtALowerRate) {
  const LlamaRun run("llama_calm");
  expect_f32_parity(run, run.golden.number("steps"));
}
TEST(CoarseTraining, SlowAllStepsArePyTorchs) {
  const CoarseRun run;
  expect_f32_parity(run, run.golden.number("steps"));
}
TEST(LlamaTraining, SlowBf16IsWithinOnePercent) {
  const LlamaRun run;
  expect_bf16_parity(run, run.golden.number("steps"));
}
TEST(CoarseTraining, SlowBf16IsWithinOnePercent) {
  const CoarseRun run;
  expect_bf16_parity(run, run.golden.number("steps"));
}

}  // namespace
}  // namespace hum

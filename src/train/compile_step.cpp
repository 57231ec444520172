#include "train/compile_step.h"

#include "base/bytes.h"
#include "base/error.h"

namespace hum::train {
namespace {

// The largest few arrays of an estimate, one per line.
std::string largest_text(const graph::MemoryEstimate& estimate) {
  std::string text;
  for (const auto& array : estimate.largest) {
    text += fmt::format("\n  {:>9}  {} {}", format_bytes(array.bytes), array.shape, array.what);
  }
  return text;
}

// The memory that a step would need with other ways of tracing its blocks, for a hint.
std::string other_recompute(const runtime::Session& session, const nn::TrainSpec& spec,
                            const OptimizerConfig& config, const nn::BlockOptions& blocks) {
  std::string text;
  for (const auto policy : {graph::RecomputePolicy::kSelective, graph::RecomputePolicy::kFull}) {
    if (policy <= blocks.recompute && blocks.recompute_every == 1) continue;
    nn::BlockOptions other = blocks;
    other.recompute = policy;
    other.recompute_every = 1;
    const auto estimate = session.estimate_memory(step_function(spec, config, other).function);
    text += fmt::format("loop.recompute: {} needs {}; ", to_name(policy),
                        format_bytes(estimate.total_bytes()));
  }
  return text + "a smaller stage.batch needs less";
}

void require_memory(const runtime::Session& session, const nn::TrainSpec& spec,
                    const OptimizerConfig& config, const StepFunction& step,
                    const StepOptions& options) {
  if (options.memory_limit_bytes <= 0) return;
  const auto estimate = session.estimate_memory(step.function);
  if (estimate.total_bytes() <= options.memory_limit_bytes) return;
  fail(ExitCode::kConfig,
       fmt::format("{} needs about {}, more than the limit of {}: state and batch {}, activations "
                   "and temporaries {}; the largest arrays alive at once:{}",
                   step.function.name, format_bytes(estimate.total_bytes()),
                   format_bytes(options.memory_limit_bytes), format_bytes(estimate.argument_bytes),
                   format_bytes(estimate.temporary_bytes), largest_text(estimate)),
       other_recompute(session, spec, config, options.blocks));
}

}  // namespace

runtime::Executable compile_step(runtime::Session& session, const nn::TrainSpec& spec,
                                 const OptimizerConfig& config, const StepFunction& step,
                                 const StepOptions& options) {
  require_memory(session, spec, config, step, options);
  return session.compile(step.function.name, step.function, {.optimize_memory = true});
}

}  // namespace hum::train

#include "plan/step_memory.h"

#include <span>

#include "base/error.h"
#include "graph/memory/purposes.h"
#include "graph/passes/passes.h"

namespace hum::plan {

namespace {

double bytes_of(std::span<const graph::Value> values) {
  double bytes = 0;
  for (const graph::Value& value : values) bytes += static_cast<double>(value.shape().bytes());
  return bytes;
}

}  // namespace

Memory memory_per_device(const TracedStep& step,
                         const std::function<bool(const graph::Node&)>& use_kernel) {
  const std::span parameters(step.function.parameters);
  const size_t state = step.weights + step.moments;
  HUM_CHECK(step.gradients + state < step.function.results.size());
  const size_t results = step.function.results.size() - step.gradients;
  const graph::Function passed = graph::run_passes(step.function).function;
  const auto working = graph::memory_purposes(passed, results, state, use_kernel);
  const std::span given = std::span(step.function.results).subspan(state, results - state);
  return {
      .weights = bytes_of(parameters.first(step.weights)),
      .gradients = static_cast<double>(working.gradients),
      .optimizer = bytes_of(parameters.subspan(step.weights, step.moments)),
      .activations = static_cast<double>(working.activations) + bytes_of(parameters.subspan(state)),
      .temporaries = static_cast<double>(working.temporaries) + bytes_of(given),
      .collectives = static_cast<double>(working.collectives)};
}

}  // namespace hum::plan

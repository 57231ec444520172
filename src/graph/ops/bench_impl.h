// Shared by the op benches: runs one program on the real plugin, with its inputs already on the
// device.
#pragma once

#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "graph/ops.h"
#include "runtime/testing.h"

namespace hum::graph {

inline runtime::HostTensor random_input(const Shape& shape, uint64_t stream) {
  Rng rng(1, "bench", stream);
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float& value : values) value = static_cast<float>(rng.uniform(-1, 1));
  return runtime::HostTensor::from_floats(shape.dtype, shape.dims, values);
}

// Time of one run of results(parameters), without compilation and transfers.
inline void run_program(benchmark::State& state, const Values& results, const Values& parameters) {
  runtime::Session& session = runtime::test_session();
  const auto program =
      session.compile("bench", Function{.parameters = parameters, .results = results});
  std::vector<runtime::Tensor> inputs;
  for (const Value& parameter : parameters) {
    inputs.push_back(session.to_device(random_input(parameter.shape(), inputs.size())));
  }
  program.run(inputs);
  for (auto _ : state) benchmark::DoNotOptimize(program.run(inputs));
}

// Same, for the gradient of a weighted sum of y's elements with respect to all parameters,
// including y.
inline void run_gradient(benchmark::State& state, const Value& y, Values parameters) {
  const Value weights = parameter("weights", y.shape());
  Values results = pullback(Values{y}, Values{weights}, parameters);
  results.push_back(y);
  parameters.push_back(weights);
  run_program(state, results, parameters);
}

}  // namespace hum::graph

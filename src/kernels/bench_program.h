// For benches: a compiled program on device-resident inputs, timed run after run.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kernels/test_session.h"

namespace hum::kernels {

inline void time_program(benchmark::State& state, runtime::Session& session,
                         const graph::Function& function) {
  const auto program = session.compile(function.name, function);
  std::vector<runtime::Tensor> inputs;
  for (const auto& tensor : random_inputs(function)) inputs.push_back(session.to_device(tensor));
  for (int i = 0; i < 3; ++i) program.run(inputs);
  for (auto step : state) {
    benchmark::DoNotOptimize(program.run(inputs));
  }
}

inline void report_gflops(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace hum::kernels

// For benches: times repeated runs of a compiled program on device-resident inputs.
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

// The dtype that a bench argument named bf16 selects.
inline graph::DType bf16_if(int64_t flag) {
  return flag != 0 ? graph::DType::kBF16 : graph::DType::kF32;
}

// Every combination of the named arguments' values, in wall-clock microseconds.
inline void over_sizes(benchmark::internal::Benchmark* bench, const std::vector<std::string>& names,
                       const std::vector<std::vector<int64_t>>& values) {
  bench->ArgNames(names)->ArgsProduct(values)->Unit(benchmark::kMicrosecond);
  bench->UseRealTime()->MeasureProcessCPUTime();
}

inline void report_gflops(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace hum::kernels

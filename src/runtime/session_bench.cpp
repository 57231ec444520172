// The overhead of a run besides its arithmetic: calls, transfers, cold and warm starts.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "graph/ops/elementwise.h"
#include "runtime/testing.h"

namespace hum::runtime {
namespace {

using graph::DType;
using graph::Shape;

graph::Function increment(int64_t size) {
  const auto a = graph::parameter("a", Shape{DType::kF32, {size}});
  return {.name = "increment",
          .parameters = {a},
          .results = {a + 1},
          .donations = {{.parameter = 0, .result = 0}}};
}

void call_on_device(benchmark::State& state) {
  const auto program = test_session().compile("increment", increment(16));
  Tensor x = test_session().to_device(HostTensor(Shape{DType::kF32, {16}}));
  for (auto _ : state) x = program.run(std::vector{x})[0];
}
BENCHMARK(call_on_device)->Unit(benchmark::kMicrosecond);

void upload_and_download(benchmark::State& state) {
  const HostTensor host(Shape{DType::kF32, {state.range(0)}});
  for (auto _ : state) {
    const Tensor device = test_session().to_device(host);
    benchmark::DoNotOptimize(test_session().to_host(device));
  }
  state.SetBytesProcessed(state.iterations() * 2 * host.shape().bytes());
}
BENCHMARK(upload_and_download)->Arg(1 << 10)->Arg(1 << 22)->Unit(benchmark::kMicrosecond);

void start(benchmark::State& state, bool warm) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("hum-bench-" + std::to_string(::getpid()));
  for (auto _ : state) {
    if (!warm) std::filesystem::remove_all(folder);
    Session session({.cache = folder});
    session.compile("increment", increment(16));
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK_CAPTURE(start, cold, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(start, warm, true)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hum::runtime

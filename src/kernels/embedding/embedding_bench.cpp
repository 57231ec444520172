// The gradient of a lookup: the kernel against XLA's scatter.
#include <benchmark/benchmark.h>

#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "kernels/bench_program.h"
#include "kernels/embedding/embedding.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;

void gradient(benchmark::State& state, runtime::Session& session) {
  constexpr int64_t kIds = 4096, kWidth = 512;
  const int64_t rows = state.range(0);
  const DType dtype = bf16_if(state.range(1));
  const Value table = parameter("table", {dtype, {rows, kWidth}});
  const Value ids = graph::remainder(graph::iota({DType::kI32, {kIds}}, 0) * 7919, rows);
  const Value dy = parameter("dy", {dtype, {kIds, kWidth}});
  const auto results =
      graph::pullback(graph::Values{embedding(table, ids)}, graph::Values{dy}, {{table}});
  time_program(state, session, {"embedding", {dy}, results, {}});
}

void kernel(benchmark::State& state) { gradient(state, kernel_session()); }
void plain(benchmark::State& state) { gradient(state, plain_session()); }

void sizes(benchmark::internal::Benchmark* bench) {
  over_sizes(bench, {"rows", "bf16"}, {{1024, 32000}, {0, 1}});
}
BENCHMARK(kernel)->Name("embedding_gradient_kernel")->Apply(sizes);
BENCHMARK(plain)->Name("embedding_gradient_plain")->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

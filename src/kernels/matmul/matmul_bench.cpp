// oneDNN through the custom call against XLA's own dot: the same graph, with and without kernels.
#include <benchmark/benchmark.h>

#include "kernels/bench_program.h"
#include "kernels/matmul/matmul.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;

// The three products of a layer: x w^T, and the gradients of x and w.
enum Kind : int64_t { kForward, kInputGradient, kWeightGradient };

// `calls` independent products in one program, to amortise the cost of starting a run.
graph::Function product(int64_t m, int64_t k, int64_t n, DType dtype, Kind kind, int calls) {
  const auto matrix = [&](const char* name, int64_t rows, int64_t columns) {
    return graph::parameter(name, {dtype, {rows, columns}});
  };
  graph::Values parameters, results;
  for (int i = 0; i < calls; ++i) {
    const auto [a, b, options] = [&]() -> std::tuple<Value, Value, MatmulOptions> {
      switch (kind) {
        case kForward:
          return {matrix("x", m, k), matrix("w", n, k), {.transpose_rhs = true}};
        case kInputGradient:
          return {matrix("dy", m, k), matrix("w", k, n), {}};
        default:
          return {matrix("x", k, m), matrix("dy", k, n), {.transpose_lhs = true}};
      }
    }();
    parameters.insert(parameters.end(), {a, b});
    results.push_back(kernels::matmul(a, b, options));
  }
  return {"product", parameters, results, {}};
}

void bench(benchmark::State& state, bool kernels) {
  const int64_t m = state.range(0), k = state.range(1), n = state.range(2);
  const auto dtype = state.range(3) == 0 ? DType::kF32 : DType::kBF16;
  const auto kind = static_cast<Kind>(state.range(4));
  const double flops = 2.0 * static_cast<double>(m * k) * static_cast<double>(n);
  const int calls = flops < 1e8 ? 16 : 1;
  time_program(state, kernels ? kernel_session() : plain_session(),
               product(m, k, n, dtype, kind, calls));
  report_gflops(state, flops * calls);
}

void BM_Kernel(benchmark::State& state) { bench(state, true); }
void BM_Plain(benchmark::State& state) { bench(state, false); }

void layers(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "k", "n", "bf16", "kind"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (const int64_t bf16 : {0, 1}) {
    b->Args({4096, 512, 512, bf16, kForward})->Args({4096, 512, 2048, bf16, kForward});
    b->Args({4096, 2048, 512, bf16, kInputGradient})
        ->Args({512, 4096, 2048, bf16, kWeightGradient});
    b->Args({2400, 256, 768, bf16, kForward})->Args({2400, 768, 256, bf16, kInputGradient});
    b->Args({256, 2400, 768, bf16, kWeightGradient});
    for (const int64_t s : {1, 8, 16, 32, 64, 128}) b->Args({s, s, s, bf16, kForward});
    b->Args({1, 256, 768, bf16, kForward})->Args({1, 512, 2048, bf16, kForward});
    b->Args({8, 256, 768, bf16, kForward})->Args({2, 512, 512, bf16, kForward});
    b->Args({256, 256, 256, bf16, kForward})->Args({512, 512, 512, bf16, kForward});
  }
}
BENCHMARK(BM_Kernel)->Apply(layers);
BENCHMARK(BM_Plain)->Apply(layers);

}  // namespace
}  // namespace hum::kernels

// Spectra of a training batch (16 clips of 2 s) and their gradient, with and without the kernel.
#include <benchmark/benchmark.h>

#include "graph/ops/spectral.h"
#include "kernels/bench_program.h"
#include "kernels/stft/stft.h"

namespace hum::kernels {
namespace {

void bench(benchmark::State& state, bool kernels) {
  const int64_t n = state.range(0), hop = n == 588 ? 147 : n / 4;
  const auto window = graph::hann_window(n);
  const graph::Value x = graph::parameter("x", {graph::DType::kF32, {16, 44100}});
  const graph::Spectrum s = kernels::stft(x, window, hop);
  graph::Function function{"stft", {x}, {s.real, s.imag}, {}};
  if (state.range(1) == 1) {
    const graph::Value dr = graph::parameter("dr", s.real.shape());
    const graph::Value di = graph::parameter("di", s.real.shape());
    function = {
        "stft_grad",
        {x, dr, di},
        graph::pullback(graph::Values{s.real, s.imag}, graph::Values{dr, di}, graph::Values{x}),
        {}};
  }
  time_program(state, kernels ? kernel_session() : plain_session(), function);
}
void BM_StftKernel(benchmark::State& state) { bench(state, true); }
void BM_StftPlain(benchmark::State& state) { bench(state, false); }
void arguments(benchmark::internal::Benchmark* b) {
  b->ArgNames({"window", "gradient"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (const int64_t n : {64, 256, 588, 1024, 2048}) {
    for (const int64_t gradient : {0, 1}) b->Args({n, gradient});
  }
}
BENCHMARK(BM_StftKernel)->Apply(arguments);
BENCHMARK(BM_StftPlain)->Apply(arguments);

}  // namespace
}  // namespace hum::kernels

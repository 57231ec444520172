// Convolutions at the sizes of Spleeter's U-Net, 5 x 5 taps at stride 2, kernel against plain ops.
// Measures process time, since XLA and the kernel share the same threads.
#include "kernels/bench_program.h"
#include "kernels/conv2d/conv2d.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;

// Arguments: rows and columns of the input, inputs, outputs, transposed.
graph::Function program(const benchmark::State& state) {
  const Value x =
      parameter("x", {DType::kF32, {1, state.range(0), state.range(1), state.range(2)}});
  const Value kernel = parameter("kernel", {DType::kF32, {5, 5, state.range(2), state.range(3)}});
  const graph::Conv2dOptions o{.strides = {2, 2}, .padding_low = {1, 1}, .padding_high = {2, 2}};
  const Value y =
      state.range(4) != 0 ? kernels::conv_transpose2d(x, kernel, o) : kernels::conv2d(x, kernel, o);
  return {"conv2d", {x, kernel}, {y}, {}};
}

// Each place at the lower rate meets each tap.
void time_convolution(benchmark::State& state, runtime::Session& session) {
  time_program(state, session, program(state));
  const int64_t places = state.range(0) * state.range(1) / (state.range(4) != 0 ? 1 : 4);
  report_gflops(state, 2.0 * static_cast<double>(places * 25 * state.range(2) * state.range(3)));
}

void conv2d_kernel(benchmark::State& state) { time_convolution(state, kernel_session()); }
void conv2d_plain(benchmark::State& state) { time_convolution(state, plain_session()); }

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Args({512, 1024, 2, 16, 0});
  for (const int64_t level : {1, 2, 3, 4, 5}) {
    bench->Args({512 >> level, 1024 >> level, 8 << level, 16 << level, 0});
  }
  bench->Args({8, 16, 512, 256, 1});
  for (const int64_t level : {5, 4, 3, 2}) {
    bench->Args({512 >> level, 1024 >> level, 16 << level, 4 << level, 1});
  }
  bench->Args({256, 512, 32, 1, 1});
  bench->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->MinTime(0.1);
}
BENCHMARK(conv2d_kernel)->Apply(sizes);
BENCHMARK(conv2d_plain)->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

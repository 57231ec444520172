// Convolutions at the sizes of Descript's codec, kernel against plain ops. Measures process time,
// since XLA and the kernel share the same threads.
#include "kernels/bench_program.h"
#include "kernels/conv1d/conv1d.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;

enum Part { kForward, kToInput, kToKernel };

// Arguments: time, inputs, outputs, taps, stride (negative: transposed), dilation, bf16, part.
graph::Function program(const benchmark::State& state) {
  const DType dtype = bf16_if(state.range(6));
  const int64_t taps = state.range(3), stride = std::abs(state.range(4)), dilation = state.range(5);
  const int64_t padding = stride > 1 ? stride / 2 : (taps - 1) / 2 * dilation;
  const Value x = parameter("x", {dtype, {1, state.range(0), state.range(1)}});
  const Value kernel = parameter("kernel", {dtype, {taps, state.range(1), state.range(2)}});
  const graph::Conv1dOptions o{
      .stride = stride, .dilation = dilation, .padding_low = padding, .padding_high = padding};
  const Value y =
      state.range(4) < 0 ? kernels::conv_transpose1d(x, kernel, o) : kernels::conv1d(x, kernel, o);
  const auto part = static_cast<Part>(state.range(7));
  if (part == kForward) return {"conv1d", {x, kernel}, {y}, {}};
  const Value dy = parameter("dy", y.shape());
  const Value to = part == kToInput ? x : kernel, other = part == kToInput ? kernel : x;
  const auto gradient = graph::pullback(graph::Values{y}, graph::Values{dy}, graph::Values{to});
  return {"conv1d_gradient", {other, dy}, {gradient[0]}, {}};
}

void conv1d_kernel(benchmark::State& state) {
  time_program(state, kernel_session(), program(state));
}
void conv1d_plain(benchmark::State& state) { time_program(state, plain_session(), program(state)); }

void sizes(benchmark::internal::Benchmark* bench) {
  const std::vector<int64_t> all[] = {{22050, 128, 128, 7, 1, 3}, {5512, 256, 256, 7, 1, 9},
                                      {44100, 64, 128, 4, 2, 1},  {5512, 256, 512, 16, 8, 1},
                                      {5512, 384, 192, 8, -4, 1}, {689, 768, 384, 16, -8, 1}};
  for (const auto& size : all) {
    for (const int64_t bf16 : {0, 1}) {
      for (const int64_t part : {kForward, kToInput, kToKernel}) {
        std::vector<int64_t> arguments = size;
        arguments.insert(arguments.end(), {bf16, part});
        bench->Args(arguments);
      }
    }
  }
  bench->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->MinTime(0.1);
}
BENCHMARK(conv1d_kernel)->Apply(sizes);
BENCHMARK(conv1d_plain)->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

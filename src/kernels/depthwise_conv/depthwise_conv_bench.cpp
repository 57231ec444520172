// The convolution of a ConvNeXt block with its gradients: the kernel against plain ops.
#include "kernels/bench_program.h"
#include "kernels/depthwise_conv/depthwise_conv.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;

constexpr int64_t kBatch = 16, kTaps = 7;

void training(benchmark::State& state, runtime::Session& session) {
  const int64_t time = state.range(0), channels = state.range(1);
  const DType dtype = bf16_if(state.range(2));
  const graph::Values inputs = {parameter("x", {dtype, {kBatch, time, channels}}),
                                parameter("kernel", {DType::kF32, {kTaps, channels}}),
                                parameter("bias", {DType::kF32, {channels}})};
  constexpr graph::DepthwiseOptions kSame = {.padding_low = 3, .padding_high = 3};
  time_program(state, session, with_gradients("depthwise_conv", inputs, [&](auto in) {
                 return depthwise_conv(in[0], in[1], in[2], kSame);
               }));
}

// 1.2 s at the codec's two frame rates, 50 and 150 Hz.
void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"time", "channels", "bf16"})->UseRealTime()->MeasureProcessCPUTime();
  for (const int64_t bf16 : {0, 1}) bench->Args({60, 384, bf16})->Args({180, 256, bf16});
  bench->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(training, depthwise_conv_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(training, depthwise_conv_plain, plain_session())->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

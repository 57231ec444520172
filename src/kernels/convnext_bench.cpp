// The element-wise parts of a ConvNeXt block, and the block's training step, with and without
// kernels. A kernel that shows no gain here is removed.
#include <benchmark/benchmark.h>

#include "graph/ops.h"
#include "kernels/bench_program.h"
#include "kernels/bias_gelu/bias_gelu.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

Value input(const char* name, DType dtype, graph::Dims dims) {
  return graph::parameter(name, {dtype, std::move(dims)});
}

// x[B, T, C], C channels, 3 C hidden.
graph::Function part(const std::string& which, DType dtype, int64_t width) {
  const graph::Dims dims = {16, 300, width};
  const Value scale = input("scale", DType::kF32, {width}),
              bias = input("bias", DType::kF32, {width});
  if (which == "layer_norm") {
    return with_gradients(which, {input("x", dtype, dims), scale, bias},
                          [](auto in) { return layer_norm(in[0], in[1], in[2]); });
  }
  if (which == "bias_gelu") {
    return with_gradients(
        which, {input("x", dtype, {16, 300, 3 * width}), input("b", DType::kF32, {3 * width})},
        [](auto in) { return bias_gelu(in[0], in[1]); });
  }
  const Values inputs = {input("x", dtype, dims),
                         input("k", DType::kF32, {7, width}),
                         scale,
                         bias,
                         input("up", DType::kF32, {3 * width, width}),
                         input("up_bias", DType::kF32, {3 * width}),
                         input("down", DType::kF32, {width, 3 * width}),
                         input("down_bias", DType::kF32, {width})};
  return with_gradients(which, inputs, [&](std::span<const Value> in) {
    const auto narrow = [&](const Value& v) { return graph::convert(v, dtype); };
    Value y = graph::depthwise_conv1d(in[0], narrow(in[1]), {.padding_low = 3, .padding_high = 3});
    y = layer_norm(y, in[2], in[3]);
    y = bias_gelu(kernels::matmul(y, narrow(in[4]), {.transpose_rhs = true}), in[5]);
    y = kernels::matmul(y, narrow(in[6]), {.transpose_rhs = true}) + narrow(in[7]);
    return in[0] + y * 0.2;
  });
}

void bench(benchmark::State& state, const std::string& which, bool kernels) {
  time_program(state, kernels ? kernel_session() : plain_session(),
               part(which, state.range(1) == 0 ? DType::kF32 : DType::kBF16, state.range(0)));
}
void arguments(benchmark::internal::Benchmark* b) {
  b->ArgNames({"width", "bf16"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (const int64_t width : {256, 384}) {
    for (const int64_t bf16 : {0, 1}) b->Args({width, bf16});
  }
}
BENCHMARK_CAPTURE(bench, layer_norm_kernel, "layer_norm", true)->Apply(arguments);
BENCHMARK_CAPTURE(bench, layer_norm_plain, "layer_norm", false)->Apply(arguments);
BENCHMARK_CAPTURE(bench, bias_gelu_kernel, "bias_gelu", true)->Apply(arguments);
BENCHMARK_CAPTURE(bench, bias_gelu_plain, "bias_gelu", false)->Apply(arguments);
BENCHMARK_CAPTURE(bench, block_kernel, "block", true)->Apply(arguments);
BENCHMARK_CAPTURE(bench, block_plain, "block", false)->Apply(arguments);

}  // namespace
}  // namespace hum::kernels

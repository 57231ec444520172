// Rotary positions with their gradient: the kernel against plain ops.
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "kernels/bench_program.h"
#include "kernels/rotary/rotary.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;

void training(benchmark::State& state, runtime::Session& session) {
  const DType dtype = bf16_if(state.range(2));
  const int64_t positions = state.range(0), half = 32;
  const auto x = parameter("x", {dtype, {12, positions, state.range(1), 3, 2 * half}});
  const graph::Value angles = graph::iota({DType::kF32, {positions, 1, half}}, 0) * 0.01;
  const graph::Value waves =
      graph::concatenate(graph::Values{graph::cosine(angles), graph::sine(angles)}, 1);
  time_program(state, session, with_gradients("rotary", {x}, [&](auto in) {
                 return rotate_heads(in[0], waves, 2);
               }));
}

void sizes(benchmark::internal::Benchmark* bench) {
  over_sizes(bench, {"positions", "groups", "bf16"}, {{331}, {4}, {0, 1}});
}
BENCHMARK_CAPTURE(training, rotary_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(training, rotary_plain, plain_session())->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

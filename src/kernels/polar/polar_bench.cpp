// The codec's head with its gradient: the kernel against plain ops.
#include "graph/ops/elementwise.h"
#include "kernels/bench_program.h"
#include "kernels/polar/polar.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;

void training(benchmark::State& state, runtime::Session& session) {
  const DType dtype = bf16_if(state.range(2));
  const auto x = parameter("x", {dtype, {state.range(0), 2 * state.range(1)}});
  time_program(state, session, with_gradients("polar", {x}, [](auto in) {
                 const auto [real, imag] = polar(in[0], 4.6);
                 return real + imag;
               }));
}

void sizes(benchmark::internal::Benchmark* bench) {
  over_sizes(bench, {"rows", "bins", "bf16"}, {{2880}, {295}, {0, 1}});
}
BENCHMARK_CAPTURE(training, polar_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(training, polar_plain, plain_session())->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

// The gated activation with its gradient: the kernel against plain ops.
#include "kernels/bench_program.h"
#include "kernels/swiglu/swiglu.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;

void training(benchmark::State& state, runtime::Session& session) {
  const DType dtype = bf16_if(state.range(2));
  const auto x = parameter("x", {dtype, {state.range(0), 2, state.range(1)}});
  time_program(state, session,
               with_gradients("swiglu", {x}, [](auto in) { return swiglu(in[0]); }));
}

void sizes(benchmark::internal::Benchmark* bench) {
  over_sizes(bench, {"rows", "width", "bf16"}, {{4096}, {768, 2048}, {0, 1}});
}
BENCHMARK_CAPTURE(training, swiglu_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(training, swiglu_plain, plain_session())->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

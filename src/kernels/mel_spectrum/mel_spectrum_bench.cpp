// A term of the spectral loss with its gradient: the kernel against plain ops.
#include "graph/ops.h"
#include "kernels/bench_program.h"
#include "kernels/mel_spectrum/mel_spectrum.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;

// Triangles a few bins wide.
MelScale scale_of(int64_t window, int64_t bands) {
  MelScale scale{.window = graph::hann_window(window), .hop = window / 4, .bands = bands};
  const int64_t bins = window / 2 + 1;
  scale.weights.resize(static_cast<size_t>(bins * bands));
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t band = bin * (bands - 1) / bins;
    scale.weights[static_cast<size_t>(bin * bands + band)] = 0.25F;
    scale.weights[static_cast<size_t>(bin * bands + band + 1)] = 0.75F;
  }
  return scale;
}

void training(benchmark::State& state, runtime::Session& session) {
  const MelScale scale = scale_of(state.range(0), state.range(0) / 8);
  const auto x = parameter("x", {DType::kF32, {16, 26460}});
  time_program(state, session, with_gradients("mel_spectrum", {x}, [&](auto in) {
                 return mel_spectrum(in[0], scale, /*with_magnitude=*/false).bands_BTM;
               }));
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgName("window")->UseRealTime()->MeasureProcessCPUTime();
  bench->Unit(benchmark::kMicrosecond)->Arg(128)->Arg(512)->Arg(2048);
}
BENCHMARK_CAPTURE(training, mel_spectrum_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(training, mel_spectrum_plain, plain_session())->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

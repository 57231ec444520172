// Spectra of six seconds of eight clips at the models' sizes, in process time.
#include "graph/ops/bench_impl.h"
#include "graph/ops/fft_impl.h"

namespace hum::graph {
namespace {

constexpr int64_t kClips = 8, kSamples = 6 * 22050;

Value clips() { return parameter("x", {DType::kF32, {kClips, kSamples}}); }

int64_t frame_count(const benchmark::State& state) {
  return (kSamples - state.range(0)) / state.range(1) + 1;
}

void framing(benchmark::State& state) {
  const Value x = clips();
  run_program(state, {frame(x, state.range(0), state.range(1))}, {x});
}

void overlapping(benchmark::State& state) {
  const Value x = parameter("x", {DType::kF32, {kClips, frame_count(state), state.range(0)}});
  run_program(state, {overlap_add(x, state.range(1))}, {x});
}

void rfft_only(benchmark::State& state) {
  const Value x = parameter("x", {DType::kF32, {kClips, frame_count(state), state.range(0)}});
  const auto [real, imag] = rfft(x);
  run_program(state, {real, imag}, {x});
}

// The table of cosines is an input: as a constant it would take long to print.
void rfft_as_one_product(benchmark::State& state) {
  const int64_t n = state.range(0);
  const Value x = parameter("x", {DType::kF32, {kClips, frame_count(state), n}}),
              table = parameter("table", {DType::kF32, {n, n + 2}});
  run_program(state, {matmul(x, table)}, {x, table});
}

void magnitude_gradient(benchmark::State& state) {
  const Value x = clips();
  const auto [real, imag] = stft(x, hann_window(state.range(0)), state.range(1));
  run_gradient(state, sqrt(real * real + imag * imag + 1e-6), {x});
}

#define HUM_BENCH(name)               \
  BENCHMARK(name)                     \
      ->Unit(benchmark::kMillisecond) \
      ->MeasureProcessCPUTime()       \
      ->Args({588, 147})              \
      ->Args({882, 147})              \
      ->Args({512, 128})              \
      ->Args({1024, 256})             \
      ->Args({2048, 512})
HUM_BENCH(framing);
HUM_BENCH(overlapping);
HUM_BENCH(rfft_only);
HUM_BENCH(rfft_as_one_product);
HUM_BENCH(magnitude_gradient);
#undef HUM_BENCH

}  // namespace
}  // namespace hum::graph

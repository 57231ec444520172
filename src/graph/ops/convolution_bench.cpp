// Convolutions at the codec's sizes, and 2-d ones at Spleeter's, in process time. Compares ways to
// write the forms: depthwise as shifted multiply-adds or as a grouped convolution, transposed as
// overlapped products or as a convolution with a dilated input, in 2-d as interleaved phases or
// with a dilated input, forward and backward.
#include "graph/ops/bench_impl.h"

namespace hum::graph {
namespace {

struct Depthwise {
  Value x = parameter("x", {DType::kF32, {8, 300, 384}});
  Value kernel = parameter("kernel", {DType::kF32, {7, 384}});
  Value shifted() const { return depthwise_conv1d(x, kernel, {1, 3, 3}); }
  Value grouped() const {
    return conv1d(x, reshape(kernel, {7, 1, 384}),
                  {.groups = 384, .padding_low = 3, .padding_high = 3});
  }
};

void depthwise_shifted(benchmark::State& state) {
  const Depthwise d;
  run_program(state, {d.shifted()}, {d.x, d.kernel});
}
void depthwise_grouped(benchmark::State& state) {
  const Depthwise d;
  run_program(state, {d.grouped()}, {d.x, d.kernel});
}
void depthwise_shifted_gradient(benchmark::State& state) {
  const Depthwise d;
  run_gradient(state, d.shifted(), {d.x, d.kernel});
}
void depthwise_grouped_gradient(benchmark::State& state) {
  const Depthwise d;
  run_gradient(state, d.grouped(), {d.x, d.kernel});
}

// Batch, frames, input and output features, taps, stride.
struct Transposed {
  explicit Transposed(const benchmark::State& state)
      : x(parameter("x", {DType::kF32, {state.range(0), state.range(1), state.range(2)}})),
        kernel(parameter("k", {DType::kF32, {state.range(4), state.range(2), state.range(3)}})),
        stride(state.range(5)) {}
  Value overlapped() const { return conv_transpose1d(x, kernel, {.stride = stride}); }
  Value dilated() const {
    const int64_t reach = kernel.size(0) - 1;
    return convolution(
        x, reverse(kernel, {0}),
        {.padding_low = {reach}, .padding_high = {reach}, .input_dilation = {stride}});
  }
  Value x, kernel;
  int64_t stride;
};

void transposed_overlapped(benchmark::State& state) {
  const Transposed t(state);
  run_program(state, {t.overlapped()}, {t.x, t.kernel});
}
void transposed_dilated(benchmark::State& state) {
  const Transposed t(state);
  run_program(state, {t.dilated()}, {t.x, t.kernel});
}
void transposed_overlapped_gradient(benchmark::State& state) {
  const Transposed t(state);
  run_gradient(state, t.overlapped(), {t.x, t.kernel});
}
void transposed_dilated_gradient(benchmark::State& state) {
  const Transposed t(state);
  run_gradient(state, t.dilated(), {t.x, t.kernel});
}

void conv1d_gradient(benchmark::State& state) {
  const Value x = parameter("x", {DType::kF32, {8, 300, 256}}),
              kernel = parameter("kernel", {DType::kF32, {state.range(0), 256, 256}});
  run_gradient(state, conv1d(x, kernel, {.dilation = state.range(1)}), {x, kernel});
}

// Rows, columns, input and output features; 5 x 5 taps, stride 2. GFLOP/s are of the products of
// the definition.
struct Plane {
  explicit Plane(const benchmark::State& state)
      : x(parameter("x", {DType::kF32, {1, state.range(0), state.range(1), state.range(2)}})),
        kernel(parameter("k", {DType::kF32, {5, 5, state.range(2), state.range(3)}})) {}
  Value doubled() const {
    return conv_transpose2d(x, kernel,
                            {.strides = {2, 2}, .padding_low = {1, 1}, .padding_high = {2, 2}});
  }
  Value doubled_dilated() const {
    return convolution(x, reverse(kernel, {0, 1}),
                       {.padding_low = {3, 3},
                        .padding_high = {2, 2},
                        .input_dilation = {2, 2},
                        .layout = {"b01f", "01io", "b01f"}});
  }
  // Every place of the input meets every tap.
  void count(benchmark::State& state) const {
    const int64_t places = x.size(1) * x.size(2);
    const double flops = 2 * static_cast<double>(places * kernel.shape().elements());
    state.counters["GFLOP/s"] =
        benchmark::Counter(1e-9 * flops, benchmark::Counter::kIsIterationInvariantRate);
  }
  Value x, kernel;
};

void plane_doubled(benchmark::State& state) {
  const Plane p(state);
  run_program(state, {p.doubled()}, {p.x, p.kernel});
  p.count(state);
}
void plane_doubled_dilated(benchmark::State& state) {
  const Plane p(state);
  run_program(state, {p.doubled_dilated()}, {p.x, p.kernel});
  p.count(state);
}
void plane_doubled_gradient(benchmark::State& state) {
  const Plane p(state);
  run_gradient(state, p.doubled(), {p.x, p.kernel});
}
void plane_doubled_dilated_gradient(benchmark::State& state) {
  const Plane p(state);
  run_gradient(state, p.doubled_dilated(), {p.x, p.kernel});
}

void spleeter_decoder(benchmark::internal::Benchmark* bench) {
  bench->Args({8, 16, 512, 256});
  for (const int64_t level : {5, 4, 3, 2}) {
    bench->Args({512 >> level, 1024 >> level, 16 << level, 4 << level});
  }
  bench->Args({256, 512, 32, 1});
}

#define HUM_BENCH(name) BENCHMARK(name)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()
HUM_BENCH(depthwise_shifted);
HUM_BENCH(depthwise_grouped);
HUM_BENCH(depthwise_shifted_gradient);
HUM_BENCH(depthwise_grouped_gradient);
HUM_BENCH(transposed_overlapped)->Args({4, 100, 256, 128, 16, 8})->Args({4, 300, 192, 96, 3, 3});
HUM_BENCH(transposed_dilated)->Args({4, 100, 256, 128, 16, 8})->Args({4, 300, 192, 96, 3, 3});
HUM_BENCH(transposed_overlapped_gradient)
    ->Args({4, 100, 256, 128, 16, 8})
    ->Args({4, 300, 192, 96, 3, 3});
HUM_BENCH(transposed_dilated_gradient)
    ->Args({4, 100, 256, 128, 16, 8})
    ->Args({4, 300, 192, 96, 3, 3});
HUM_BENCH(conv1d_gradient)->Args({3, 1})->Args({7, 1})->Args({3, 9});
#undef HUM_BENCH

#define HUM_PLANES(name, sizes) \
  BENCHMARK(name)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->Apply(sizes)
HUM_PLANES(plane_doubled, spleeter_decoder);
HUM_PLANES(plane_doubled_dilated, spleeter_decoder);
HUM_PLANES(plane_doubled_gradient, spleeter_decoder);
HUM_PLANES(plane_doubled_dilated_gradient, spleeter_decoder);
#undef HUM_PLANES

}  // namespace
}  // namespace hum::graph

// One position through eight layers of the 385M coarse LM's size, more than a cache holds: the
// kernel against plain ops.
#include "graph/ops/elementwise.h"
#include "kernels/bench_program.h"
#include "kernels/decoder_step/decoder_step.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Shape;
using graph::Value;

constexpr int64_t kLayers = 8, kWidth = 1024, kHeads = 16, kHead = 64, kPositions = 32,
                  kFeedForward = 3840;

void decoding(benchmark::State& state, runtime::Session& session) {
  const int64_t batch = state.range(0);
  const DType dtype = bf16_if(state.range(1));
  graph::Function function{.name = "decoder_step"};
  const auto input = [&](const char* name, const Shape& shape, int64_t layer = 0) {
    return function.parameters.emplace_back(
        graph::parameter(fmt::format("{}.{}", name, layer), shape));
  };
  const DecoderInputs in{.x_B1D = input("x", {dtype, {batch, 1, kWidth}}),
                         .waves_12h = input("waves", {DType::kF32, {1, 2, kHead / 2}}),
                         .position = graph::constant(kPositions / 2, {DType::kI32, {}})};
  const Shape scale{DType::kF32, {kWidth}}, cache{dtype, {batch, kPositions, kHeads, kHead}};
  std::vector<DecoderLayer> layers;
  for (int64_t i = 0; i < kLayers; ++i) {
    layers.push_back({.attention_norm_D = input("attention_norm", scale, i),
                      .qkv = input("qkv", {dtype, {3 * kHeads * kHead, kWidth}}, i),
                      .out = input("out", {dtype, {kWidth, kHeads * kHead}}, i),
                      .feed_forward_norm_D = input("feed_forward_norm", scale, i),
                      .gate_up = input("gate_up", {dtype, {2 * kFeedForward, kWidth}}, i),
                      .down = input("down", {dtype, {kWidth, kFeedForward}}, i),
                      .keys_BSGd = input("keys", cache, i),
                      .values_BSGd = input("values", cache, i)});
  }
  function.results = {decoder_step(in, layers, 1e-5).y_B1D};
  time_program(state, session, function);
  const int64_t elements = kLayers * kWidth * (4 * kHeads * kHead + 3 * kFeedForward);
  state.counters["GB/s"] =
      benchmark::Counter(static_cast<double>(elements * graph::size_bytes(dtype)) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate);
}

void sizes(benchmark::internal::Benchmark* bench) {
  over_sizes(bench, {"batch", "bf16"}, {{1, 4, 16}, {0, 1}});
}
BENCHMARK_CAPTURE(decoding, decoder_step_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(decoding, decoder_step_plain, plain_session())->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

// Attention of a training step (forward, and with its gradients), and of one query against a cache.
#include "kernels/attention/attention.h"
#include "kernels/bench_program.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;

// Arguments: batch, time, heads, key-value heads, head size, bf16.
struct Sizes {
  explicit Sizes(const benchmark::State& s)
      : batch(s.range(0)),
        time(s.range(1)),
        heads(s.range(2)),
        groups(s.range(3)),
        width(s.range(4)),
        dtype(s.range(5) != 0 ? DType::kBF16 : DType::kF32) {}
  // Products of queries with keys and of scores with values, half of them masked.
  double causal_flops() const {
    return 2.0 * static_cast<double>(batch * heads * width) * static_cast<double>(time * time);
  }
  Value queries(int64_t count) const {
    return parameter("q", {dtype, {batch, count, heads, width}});
  }
  Value cache(const char* name) const {
    return parameter(name, {dtype, {batch, time, groups, width}});
  }
  int64_t batch, time, heads, groups, width;
  DType dtype;
};

void forward(benchmark::State& state, runtime::Session& session) {
  const Sizes s(state);
  const Value q = s.queries(s.time), k = s.cache("k"), v = s.cache("v");
  time_program(state, session, {"forward", {q, k, v}, {attention(q, k, v)}, {}});
  report_gflops(state, s.causal_flops());
}

void training(benchmark::State& state, runtime::Session& session) {
  const Sizes s(state);
  time_program(state, session,
               with_gradients("training", {s.queries(s.time), s.cache("k"), s.cache("v")},
                              [](auto in) { return attention(in[0], in[1], in[2]); }));
  report_gflops(state, 3.5 * s.causal_flops());
}

void decoding(benchmark::State& state, runtime::Session& session) {
  const Sizes s(state);
  const Value q = s.queries(1), k = s.cache("k"), v = s.cache("v");
  time_program(state, session, {"decoding", {q, k, v}, {attention(q, k, v)}, {}});
  state.SetBytesProcessed(state.iterations() * 2 * k.shape().bytes());
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"B", "T", "H", "G", "d", "bf16"});
  for (const int64_t bf16 : {0, 1}) {
    bench->Args({8, 512, 8, 8, 64, bf16});
    bench->Args({1, 2048, 16, 4, 64, bf16});
  }
  bench->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(forward, attention_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(forward, attention_plain, plain_session())->Apply(sizes);
BENCHMARK_CAPTURE(training, attention_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(training, attention_plain, plain_session())->Apply(sizes);
BENCHMARK_CAPTURE(decoding, attention_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(decoding, attention_plain, plain_session())->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

// Embeddings and the loss at the coarse LM's sizes. Compares ways to write them: the gradient of a
// lookup as a scatter or as a matrix product with one-hot rows; the label's logit by a masked sum
// or by a gather.
#include "graph/ops/bench_impl.h"

namespace hum::graph {
namespace {

constexpr int64_t kTokens = 4096, kEntries = 1024, kWidth = 512;

Value some_ids(Dims dims) {
  return reshape(remainder(iota({DType::kI32, {kTokens}}, 0) * 7919, kEntries), std::move(dims));
}

struct Lookup {
  Value table = parameter("table", {DType::kF32, {kEntries, kWidth}});
  Value ids = some_ids({8, kTokens / 8});
  Value gathered() const { return take(table, ids); }
  Value multiplied() const { return matmul(one_hot(ids, kEntries), table); }
};

void lookup_gather(benchmark::State& state) {
  const Lookup lookup;
  run_program(state, {lookup.gathered()}, {lookup.table});
}
void lookup_one_hot(benchmark::State& state) {
  const Lookup lookup;
  run_program(state, {lookup.multiplied()}, {lookup.table});
}
void lookup_gradient_scatter(benchmark::State& state) {
  const Lookup lookup;
  run_gradient(state, lookup.gathered(), {lookup.table});
}
void lookup_gradient_one_hot(benchmark::State& state) {
  const Lookup lookup;
  run_gradient(state, lookup.multiplied(), {lookup.table});
}
BENCHMARK(lookup_gather)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(lookup_one_hot)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(lookup_gradient_scatter)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(lookup_gradient_one_hot)->Unit(benchmark::kMillisecond)->UseRealTime();

struct Loss {
  Value logits = parameter("logits", {DType::kF32, {kTokens, kEntries}});
  Value ids = some_ids({kTokens});
  Value masked() const { return softmax_cross_entropy(logits, ids); }
  Value gathered() const {
    const Value chosen = take_along_dim(logits, reshape(ids, {kTokens, 1}), 1);
    return logsumexp(logits, {1}) - reshape(chosen, {kTokens});
  }
};

void cross_entropy_gradient_masked(benchmark::State& state) {
  const Loss loss;
  run_gradient(state, loss.masked(), {loss.logits});
}
void cross_entropy_gradient_gathered(benchmark::State& state) {
  const Loss loss;
  run_gradient(state, loss.gathered(), {loss.logits});
}
BENCHMARK(cross_entropy_gradient_masked)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(cross_entropy_gradient_gathered)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hum::graph

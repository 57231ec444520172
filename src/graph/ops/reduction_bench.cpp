// Reductions, softmax and activations at the models' sizes: rows of 4,096 tokens.
#include "graph/ops/bench_impl.h"

namespace hum::graph {
namespace {

const Shape kRows = {DType::kF32, {8, 512, 1024}};

void softmax_rows(benchmark::State& state) {
  const Value x = parameter("x", kRows);
  run_program(state, {softmax(x, -1)}, {x});
}
void argmax_rows(benchmark::State& state) {
  const Value x = parameter("x", kRows);
  run_program(state, {argmax(x, -1)}, {x});
}
void cumulative_sum_rows(benchmark::State& state) {
  const Value x = parameter("x", kRows);
  run_program(state, {cumulative_sum(x, -1)}, {x});
}
void sum_to_last_dim(benchmark::State& state) {
  const Value x = parameter("x", kRows);
  run_program(state, {reduce_sum(x, {0, 1})}, {x});
}
void gelu_exact_gradient(benchmark::State& state) {
  const Value x = parameter("x", kRows);
  run_gradient(state, gelu(x), {x});
}
void gelu_tanh_gradient(benchmark::State& state) {
  const Value x = parameter("x", kRows);
  run_gradient(state, gelu_new(x), {x});
}
BENCHMARK(softmax_rows)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(argmax_rows)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(cumulative_sum_rows)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(sum_to_last_dim)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(gelu_exact_gradient)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(gelu_tanh_gradient)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hum::graph

// The optimizer's share of a step, per tensor: the kernel and its plain ops on bf16 weights, and
// plain ops on f32 weights.
#include <benchmark/benchmark.h>

#include "graph/ops/elementwise.h"
#include "kernels/adamw/adamw.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;

struct Inputs {
  Inputs(DType weights, int64_t elements) {
    const graph::Shape wide{DType::kF32, {elements / 512, 512}}, scalar{DType::kF32, {}};
    all = {parameter("w", {weights, wide.dims}),
           parameter("m", wide),
           parameter("v", wide),
           parameter("g", wide),
           parameter("clip", scalar),
           parameter("rate", scalar)};
  }
  graph::Values all;
};

const std::vector<graph::Function::Donation> kInPlace = {{0, 0}, {1, 1}, {2, 2}};

graph::Function narrow(int64_t elements) {
  Inputs in(DType::kBF16, elements);
  in.all.push_back(parameter("key", {DType::kU32, {2}}));
  const auto& a = in.all;
  const Value numbers = adamw_numbers({a[4], a[5], a[4], a[4]}, {0.9, 0.99, 1e-8, 0.01});
  const auto result = adamw({a[0], a[1], a[2], a[3], true, {1}}, numbers, a[6]);
  return {"narrow", a, {result.weights, result.mean, result.square}, kInPlace};
}

// As in train/optimizer.cpp.
graph::Function wide(int64_t elements) {
  const auto a = Inputs(DType::kF32, elements).all;
  const Value g = a[3] * a[4];
  const Value m = a[1] * 0.9 + g * 0.1, v = a[2] * 0.99 + g * g * 0.01;
  const Value direction = (m * a[4]) / (graph::sqrt(v * a[4]) + 1e-8) + a[0] * 0.01;
  return {"wide", a, {a[0] - direction * a[5], m, v}, kInPlace};
}

// Each run updates the previous run's state.
void time_steps(benchmark::State& state, runtime::Session& session,
                const graph::Function& function) {
  const auto program = session.compile(function.name, function, {.optimize_memory = true});
  auto host = random_inputs(function);
  for (float& v : host[2].as<float>()) v *= v;
  for (const size_t scalar : {4, 5}) host[scalar] = runtime::HostTensor::scalar(1e-3F);
  std::vector<runtime::Tensor> inputs;
  for (const auto& tensor : host) inputs.push_back(session.to_device(tensor));
  const auto step = [&] {
    auto results = program.run(inputs);
    for (size_t i = 0; i < 3; ++i) inputs[i] = std::move(results[i]);
  };
  for (int i = 0; i < 3; ++i) step();
  for (auto unused : state) step();
}

void narrow_kernel(benchmark::State& state) {
  time_steps(state, kernel_session(), narrow(state.range(0)));
}
void narrow_plain(benchmark::State& state) {
  time_steps(state, plain_session(), narrow(state.range(0)));
}
void wide_plain(benchmark::State& state) {
  time_steps(state, plain_session(), wide(state.range(0)));
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24)->UseRealTime()->MeasureProcessCPUTime();
}
BENCHMARK(narrow_kernel)->Apply(sizes);
BENCHMARK(narrow_plain)->Apply(sizes);
BENCHMARK(wide_plain)->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

// Times a minute of a song through the untrained separator, and the loss with its gradients, of
// both architectures at their sizes, with hum's kernels.
#include <benchmark/benchmark.h>

#include "base/fields_json.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "kernels/table.h"
#include "models/separator/model.h"
#include "models/separator/separator_session.h"
#include "runtime/weights.h"

namespace hum::models::separator {
namespace {

using graph::DType;
using runtime::HostTensor;

runtime::Session& session() {
  static runtime::Session session({.kernels = kernels::table(),
                                   .use_kernel = kernels::available,
                                   .instruction_set = kernels::instruction_set()});
  return session;
}

SeparatorConfig config_of(int64_t architecture) {
  if (architecture == 0) return {};
  return {.architecture = Architecture::kConvNext, .width = 256, .blocks = 8};
}

HostTensor initial(const nn::Parameter& parameter) {
  const auto values = nn::initial_elements(parameter, 1);
  return HostTensor::of(parameter.shape.dims, std::span<const float>(values));
}

HostTensor noise(const graph::Shape& shape) {
  Rng rng(1, "noise");
  HostTensor tensor(shape);
  for (float& value : tensor.as<float>()) value = static_cast<float>(rng.uniform(-0.3, 0.3));
  return tensor;
}

void add_rate(benchmark::State& state, double seconds) {
  state.counters["times_real_time"] =
      benchmark::Counter(seconds, benchmark::Counter::kIsIterationInvariantRate);
}

void stems_of_a_minute(benchmark::State& state) {
  SeparatorConfig config = config_of(state.range(0));
  const Separator model(config);
  runtime::Weights weights{{{"model_type", "hum-separator"}, {"model", to_json(config)}}, {}};
  for (const auto& parameter : model.parameters().all()) {
    weights.tensors.emplace_back(parameter.name, initial(parameter));
  }
  const ScratchFolder folder;
  runtime::write_weights(folder.path(), weights);
  const SeparatorSession separator(session(), folder.path());
  const HostTensor song = noise({DType::kF32, {60 * kSampleRateHz, kChannels}});
  for (auto _ : state) {
    SegmentStream stream = separator.stream();
    benchmark::DoNotOptimize(stream.push(song.as<float>()));
    benchmark::DoNotOptimize(stream.finish());
  }
  add_rate(state, 60);
}

// A batch of four crops of 4 s, without the optimizer.
void loss_and_gradients(benchmark::State& state) {
  const Separator model(config_of(state.range(0)));
  const auto spec =
      model.train_spec({.batch = 4, .samples = 4 * kSampleRateHz, .compute = DType::kBF16});
  graph::Function function{.name = "bench", .parameters = model.parameters().values()};
  Values batch;
  for (const auto& field : spec.batch) batch.push_back(graph::parameter(field.name, field.shape));
  const nn::Loss loss = spec.loss(batch, {});
  function.results = graph::gradients(loss.total, function.parameters);
  function.results.push_back(loss.total);
  function.parameters.insert(function.parameters.end(), batch.begin(), batch.end());
  const auto program = session().compile("separator/bench", function, {.optimize_memory = true});
  std::vector<runtime::Tensor> inputs;
  for (const auto& parameter : model.parameters().all()) {
    inputs.push_back(session().to_device(initial(parameter)));
  }
  for (const auto& field : spec.batch) inputs.push_back(session().to_device(noise(field.shape)));
  program.run(inputs);
  for (auto _ : state) benchmark::DoNotOptimize(session().to_host(program.run(inputs).back()));
  add_rate(state, spec.units_per_batch);
}

// 0: band_split, 1: convnext.
BENCHMARK(stems_of_a_minute)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(loss_and_gradients)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hum::models::separator

// Times a minute of a song through Spleeter, with hum's kernels.
#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "kernels/table.h"
#include "models/spleeter/config.h"
#include "models/spleeter/separator.h"

namespace hum::models::spleeter {
namespace {

void stems_of_a_minute(benchmark::State& state) {
  runtime::Session session({.kernels = kernels::table(),
                            .use_kernel = kernels::available,
                            .instruction_set = kernels::instruction_set()});
  const Separator separator(session);
  Rng rng(1, "noise");
  audio::AudioBuffer song{kSampleRateHz, kChannels, {}};
  song.samples.resize(static_cast<size_t>(60 * kSampleRateHz * kChannels));
  for (float& sample : song.samples) sample = static_cast<float>(rng.uniform(-0.3, 0.3));
  for (auto _ : state) benchmark::DoNotOptimize(separator.separate(song));
  state.counters["times_real_time"] =
      benchmark::Counter(60.0, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(stems_of_a_minute)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hum::models::spleeter

// Times a minute of sound through the network, and through network and note creation.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/rng.h"
#include "models/basic_pitch/transcriber.h"

namespace hum::models::basic_pitch {
namespace {

std::vector<float> minute_of_noise() {
  Rng rng(1, "noise");
  std::vector<float> samples(static_cast<size_t>(60 * kSampleRateHz));
  for (float& sample : samples) sample = static_cast<float>(rng.uniform(-0.3, 0.3));
  return samples;
}

void posteriors_of_a_minute(benchmark::State& state) {
  runtime::Session session;
  const Transcriber transcriber(session);
  const auto samples = minute_of_noise();
  for (auto _ : state) benchmark::DoNotOptimize(transcriber.posteriors(samples));
  state.counters["times_real_time"] =
      benchmark::Counter(60.0, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(posteriors_of_a_minute)->Unit(benchmark::kMillisecond)->UseRealTime();

void notes_of_a_minute(benchmark::State& state) {
  runtime::Session session;
  const auto posteriors = Transcriber(session).posteriors(minute_of_noise());
  for (auto _ : state) benchmark::DoNotOptimize(create_notes(posteriors));
}
BENCHMARK(notes_of_a_minute)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hum::models::basic_pitch

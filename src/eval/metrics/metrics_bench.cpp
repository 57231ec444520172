// Times the metrics on 15 s clips.
#include <benchmark/benchmark.h>

#include "audio/pitch.h"
#include "audio/test_signal.h"
#include "eval/metrics/mel_distance.h"
#include "eval/metrics/timbre.h"

namespace hum::eval {
namespace {

constexpr int kRateHz = 22050;

void yin(benchmark::State& state) {
  const auto sound = audio::test_signal(15 * kRateHz, kRateHz);
  for (auto _ : state) benchmark::DoNotOptimize(audio::yin(sound, kRateHz));
}
BENCHMARK(yin)->Unit(benchmark::kMillisecond);

void timbre(benchmark::State& state) {
  const auto sound = audio::test_signal(15 * kRateHz, kRateHz);
  for (auto _ : state) benchmark::DoNotOptimize(timbre_of(sound, kRateHz));
}
BENCHMARK(timbre)->Unit(benchmark::kMillisecond);

void mel(benchmark::State& state) {
  const auto sound = audio::test_signal(15 * kRateHz, kRateHz);
  for (auto _ : state) benchmark::DoNotOptimize(mel_distance(sound, sound, kRateHz));
}
BENCHMARK(mel)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hum::eval

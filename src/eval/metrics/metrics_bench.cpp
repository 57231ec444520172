// Times the metrics on 15 s clips, and BSSEval on stereo stems of a minute.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "audio/pitch.h"
#include "audio/test_signal.h"
#include "base/testing/rule.h"
#include "base/threads.h"
#include "eval/metrics/bss_eval.h"
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

// state.range(0): stems.
void bss_eval(benchmark::State& state) {
  constexpr int kSongRateHz = 44100;
  std::vector<audio::AudioBuffer> stems;
  for (int64_t stem = 0; stem < state.range(0); ++stem) {
    stems.push_back({kSongRateHz, 2,
                     hum::testing::ruled(fmt::format("stem {}", stem), size_t{120} * kSongRateHz)});
  }
  for (auto _ : state) {
    const BssEval judge(stems, kSongRateHz, compute_threads());
    benchmark::DoNotOptimize(judge.score(stems));
  }
}
BENCHMARK(bss_eval)->Arg(2)->Arg(6)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
}  // namespace hum::eval

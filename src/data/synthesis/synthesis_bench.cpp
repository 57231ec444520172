// Measures how many times faster than real time each part of the synthesis runs on one core: the
// counter "x_real_time".
#include <benchmark/benchmark.h>

#include "data/synthesis/excitation.h"
#include "data/synthesis/features.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/items.h"
#include "data/synthesis/sine.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

void report(benchmark::State& state, double seconds = kItemSeconds) {
  state.counters["x_real_time"] = benchmark::Counter(
      seconds * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

std::vector<audio::Note> melody_of(const char* preset) {
  return make_melody(1, 1, find_preset(preset)).notes;
}

void BM_Fluid(benchmark::State& state, const char* name) {
  FluidRenderer renderer;
  const Preset& preset = find_preset(name);
  std::vector<std::vector<audio::Note>> melodies;
  melodies.reserve(8);
  for (uint64_t i = 0; i < 8; ++i) melodies.push_back(make_melody(1, i, preset).notes);
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        renderer.render(melodies[next++ % melodies.size()], preset.program, kItemSeconds));
  }
  report(state);
}
BENCHMARK_CAPTURE(BM_Fluid, violin, "violin")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Fluid, piano, "piano")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Fluid, choir, "choir-aahs")->Unit(benchmark::kMillisecond);

void BM_FontLoad(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(std::make_unique<FluidRenderer>());
}
BENCHMARK(BM_FontLoad)->Unit(benchmark::kMillisecond);

void BM_Excitation(benchmark::State& state, const char* preset) {
  const auto notes = melody_of(preset);
  std::vector<float> out(kItemSamples);
  for (auto _ : state) {
    render_excitation(notes, out);
    benchmark::DoNotOptimize(out.data());
  }
  report(state);
}
BENCHMARK_CAPTURE(BM_Excitation, violin, "violin")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Excitation, bass, "finger-bass")->Unit(benchmark::kMillisecond);

void BM_Noise(benchmark::State& state) {
  std::vector<float> out(kItemSamples);
  for (auto _ : state) {
    render_noise(1, 1, out);
    benchmark::DoNotOptimize(out.data());
  }
  report(state);
}
BENCHMARK(BM_Noise)->Unit(benchmark::kMillisecond);

void BM_Sine(benchmark::State& state) {
  const auto notes = melody_of("violin");
  for (auto _ : state) benchmark::DoNotOptimize(render_sine(notes, kItemSamples));
  report(state);
}
BENCHMARK(BM_Sine)->Unit(benchmark::kMillisecond);

void BM_Features(benchmark::State& state) {
  const auto notes = melody_of("violin");
  for (auto _ : state) benchmark::DoNotOptimize(melody_features(notes, kItemFrames));
  report(state);
}
BENCHMARK(BM_Features)->Unit(benchmark::kMillisecond);

void BM_Hum(benchmark::State& state) {
  const auto notes = melody_of("cello");
  for (auto _ : state) benchmark::DoNotOptimize(render_hum(notes, kItemSeconds, 1, 1));
  report(state);
}
BENCHMARK(BM_Hum)->Unit(benchmark::kMillisecond);

// A whole item of 6 s, reference included; without a transcriber.
void BM_Item(benchmark::State& state) {
  ItemMaker maker{ItemOptions{}};
  uint64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(maker.make(index++));
  report(state);
}
BENCHMARK(BM_Item)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hum::data

// Measures how many times faster than real time the synthesizer renders a melody on one core: the
// counter "x_real_time", on average over presets, and for the slowest kind.
#include <benchmark/benchmark.h>

#include "data/synthesis/melody.h"
#include "data/synthesizer/synthesizer.h"

namespace hum::data {
namespace {

constexpr double kSeconds = 6;

void report(benchmark::State& state, int64_t sounds) {
  state.counters["x_real_time"] = benchmark::Counter(
      kSeconds * static_cast<double>(sounds * state.iterations()), benchmark::Counter::kIsRate);
}

// Notes that touch, without chords.
std::vector<audio::Note> line_of(uint64_t index) {
  return make_melody(1, index, find_preset("flute")).notes;
}

void BM_Synth(benchmark::State& state, SynthRole role) {
  constexpr int64_t kPresets = 24;
  for (auto _ : state) {
    for (int64_t i = 0; i < kPresets; ++i) {
      const SynthPreset preset = draw_synth_preset(role, 1, i);
      benchmark::DoNotOptimize(render_synth(preset, line_of(i), kSeconds, 1, i));
    }
  }
  report(state, kPresets);
}
BENCHMARK_CAPTURE(BM_Synth, lead, SynthRole::kLead)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Synth, chordal, SynthRole::kChordal)->Unit(benchmark::kMillisecond);

void BM_SynthSlowest(benchmark::State& state) {
  SynthPreset preset;
  preset.oscillators[0].wave = Wave::kPulse;
  preset.oscillators[1] = preset.oscillators[0];
  preset.unison = {.voices = 7, .detune_cents = 20, .width = 1};
  preset.filter = SynthFilter{.is_steep = true};
  preset.drive_db = 12;
  const auto notes = line_of(1);
  for (auto _ : state) benchmark::DoNotOptimize(render_synth(preset, notes, kSeconds, 1, 1));
  report(state, 1);
}
BENCHMARK(BM_SynthSlowest)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hum::data

// Costs of material for separation: rendering a window, and drawing a training batch from a folder.
#include <benchmark/benchmark.h>

#include "base/scratch_folder.h"
#include "data/stems/batches.h"
#include "data/stems/roles.h"
#include "data/stems/testing_impl.h"

namespace hum::data {
namespace {

// Windows of 12 s of a small band of five parts.
void BM_RenderWindow(benchmark::State& state) {
  StemOptions options = testing::small_options();
  options.seconds = 12;
  const SongSource source(options, testing::small_bands());
  StemRenderer renderer(options, source);
  uint64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(renderer.render(index++));
  state.counters["x_real_time"] =
      benchmark::Counter(12 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_RenderWindow)->Unit(benchmark::kMillisecond);

// 16 windows of 4 s, as the separator trains on: on all cores, by processor time.
void BM_StemBatch(benchmark::State& state) {
  const ScratchFolder folder;
  MakeStemsOptions options{.material = testing::small_options(), .count = 16};
  options.material.seconds = 12;
  make_stems(folder.path(), options, testing::small_bands());
  const StemFolder stems(folder.path());
  const StemMaterial material(stems, split_by_song(stems, 0).windows, 0, stems.size());
  const ItemOrder order(0, stems.size(), 1);
  int64_t step = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(stem_batch(material, order, 1, step++, 16, 4 * kStemRate));
  }
}
BENCHMARK(BM_StemBatch)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace hum::data

// The quantizer's search: the kernel against the matrix of all scores and its argmax.
#include "kernels/bench_program.h"
#include "kernels/nearest_rows/nearest_rows.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;

void search(benchmark::State& state, runtime::Session& session) {
  const int64_t vectors = state.range(0), entries = 1024, width = state.range(1);
  const auto x = parameter("x", {DType::kF32, {vectors, width}});
  const auto table = parameter("table", {DType::kF32, {entries, width}});
  const auto offsets = parameter("offsets", {DType::kF32, {entries}});
  time_program(state, session,
               {"search", {x, table, offsets}, {nearest_rows(x, table, offsets)}, {}});
  report_gflops(state, 2.0 * static_cast<double>(vectors * entries * width));
}

// Vectors: a training batch of the codec, and one window of 6 s. Widths: Descript's, hum's.
void sizes(benchmark::internal::Benchmark* bench) {
  over_sizes(bench, {"vectors", "width"}, {{300, 960}, {8, 64}});
}
BENCHMARK_CAPTURE(search, nearest_rows_kernel, kernel_session())->Apply(sizes);
BENCHMARK_CAPTURE(search, nearest_rows_plain, plain_session())->Apply(sizes);

}  // namespace
}  // namespace hum::kernels

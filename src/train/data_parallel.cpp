#include "train/data_parallel.h"

#include "base/error.h"
#include "graph/ops.h"
#include "graph/ops/place_as.h"

namespace hum::train {

using graph::Axis;
using graph::Value;

// The devices' batches differ, so their values differ, although no value of the loss's graph is
// sharded.
graph::Values averaged(const graph::Values& values, const graph::Mesh& mesh) {
  if (mesh.data == 1) return values;
  graph::Values partial;
  for (const Value& value : values) {
    graph::Placement placement = value.placement();
    placement[Axis::kData] = graph::kPartial;
    partial.push_back(graph::place_as(value, placement));
  }
  return graph::mean_over(partial, Axis::kData, mesh);
}

nn::Loss averaged(const nn::TrainSpec& spec, nn::Loss loss, const graph::Mesh& mesh) {
  if (mesh.data == 1) return loss;
  if (!loss.buffer_updates.empty()) {
    fail(ExitCode::kConfig,
         fmt::format("{} changes buffers in training, which would differ between devices",
                     spec.name),
         "train it on one device");
  }
  loss.total = averaged({loss.total}, mesh)[0];
  for (auto& [name, value] : loss.metrics) {
    value = averaged({convert(value, graph::DType::kF32)}, mesh)[0];
  }
  return loss;
}

}  // namespace hum::train

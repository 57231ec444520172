#include "train/run_record.h"

#include "base/json.h"
#include "base/machine.h"
#include "graph/memory/work.h"
#include "graph/passes/passes.h"
#include "kernels/table.h"

namespace hum::train {

Json run_record(const runtime::Session& session, const nn::TrainSpec& spec,
                const OptimizerConfig& optimizer, const nn::BlockOptions& blocks,
                int64_t first_step) {
  const bool is_cpu = session.platform() == "cpu";
  const graph::Function step = step_function(spec, optimizer, blocks).function;
  const graph::Work work = graph::count_work(
      graph::run_passes(step).function,
      [&](const graph::Node& node) { return is_cpu && kernels::available(node); });
  const std::vector<int64_t>& first = spec.batch.at(0).shape.dims;
  return {{"run",
           {{"model", spec.name},
            {"parameters", spec.parameters->element_count()},
            {"batch", first.at(0)},
            {"sequence", first.size() > 1 ? first[1] : 1},
            {"product_flops", work.product_flops},
            {"bytes", work.bytes},
            {"dtype", graph::name(work.product_dtype)},
            {"hardware", is_cpu ? processor_name() : session.client()->device(0).kind()},
            {"platform", session.platform()},
            {"devices", 1},
            {"mesh", {{"dp", 1}, {"tp", 1}, {"pp", 1}}},
            {"first_step", first_step}}}};
}

}  // namespace hum::train

#include "app/plan/memory_report.h"

#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/names.h"
#include "eval/harness/bar.h"

namespace hum::app {
namespace {

using graph::RecomputePolicy;

std::vector<RecomputePolicy> policies(const std::string& wanted) {
  if (wanted == "all")
    return {RecomputePolicy::kNone, RecomputePolicy::kSelective, RecomputePolicy::kFull};
  return {parse_name<RecomputePolicy>(wanted, ExitCode::kUsage, "--recompute")};
}

Json parts(const plan::Memory& m) {
  return {{"weights", m.weights},
          {"optimizer", m.optimizer},
          {"gradients", m.gradients},
          {"activations", m.activations},
          {"temporaries", m.temporaries},
          {"collectives", m.collectives},
          {"total", m.total()}};
}

constexpr const char* kColumns[] = {"weights",     "optimizer",   "gradients", "activations",
                                    "temporaries", "collectives", "total"};

}  // namespace

Json memory_report(const MemoryOptions& options) {
  if (options.devices < 1 || options.devices > 4096) {
    fail(ExitCode::kUsage, fmt::format("--devices {} is outside 1..4096", options.devices),
         "--devices 4");
  }
  if (options.shape.batch < 0 || options.shape.seq < 0) {
    fail(ExitCode::kUsage,
         fmt::format("--batch {} or --seq {} is below 0", options.shape.batch, options.shape.seq),
         "0 takes the batch of the configuration and the longest sequence of the model");
  }
  const auto wanted = policies(options.recompute);
  const PlannedModel planned = planned_model(options.model, options.shape);
  Json rows = Json::array();
  for (const auto policy : wanted) {
    nn::BlockOptions blocks = planned.blocks;
    blocks.recompute = policy;
    rows.push_back(parts(
        step_memory(planned.spec, planned.optimizer, blocks, static_cast<int>(options.devices))));
    rows.back()["recompute"] = to_name(policy);
  }
  return {{"model", options.model},
          {"parameters", planned.spec.parameters->element_count()},
          {"devices", options.devices},
          {"memory_bytes", rows}};
}

std::string memory_text(const Json& report) {
  std::vector<std::string> head = {"recompute"};
  head.insert(head.end(), std::begin(kColumns), std::end(kColumns));
  eval::TextTable table(head);
  for (const auto& row : report["memory_bytes"]) {
    std::vector<std::string> cells = {row["recompute"].get<std::string>()};
    for (const char* part : kColumns)
      cells.push_back(format_bytes(static_cast<int64_t>(row[part].get<double>())));
    table.row(cells);
  }
  return fmt::format("{}: {} parameters; peak memory of one of {} devices during a step:\n{}",
                     report["model"].get<std::string>(), report["parameters"].get<int64_t>(),
                     report["devices"].get<int64_t>(), table.text());
}

}  // namespace hum::app

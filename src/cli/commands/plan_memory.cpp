// hum plan memory: what a device needs for a training step of hum's own models.
#include <iostream>

#include "app/plan/planned_step.h"
#include "base/bytes.h"
#include "cli/commands/plan.h"
#include "eval/harness/bar.h"
#include "models/registry.h"

namespace hum::cli {
namespace {

using graph::RecomputePolicy;

struct Args {
  std::string model, recompute = "all";
  app::PlannedShape shape;
  int64_t devices = 1;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("model", model,
                 models::trained_models() +
                     ", tiny, 385m, 10b, a YAML configuration, llama-7b, ..., or a Llama's "
                     "config.json");
    v("devices", devices, "data-parallel devices, each with all weights and moments");
    v("batch", shape.batch, "items on each device (0: the configuration's; of a Llama 1)");
    v("seq", shape.seq, "a Llama's tokens a sequence (0: its longest)");
    v("compute", shape.compute, "a Llama's activations: f32 or bf16 (default)");
    v("weights", shape.weights, "f32 or bf16 (default: the configuration's; of a Llama f32)");
    v("recompute", recompute, "none|selective|full|all");
    v("json", json, "print the memory as JSON");
  }
};

std::vector<RecomputePolicy> policies(const std::string& wanted) {
  if (wanted == "all")
    return {RecomputePolicy::kNone, RecomputePolicy::kSelective, RecomputePolicy::kFull};
  return {from_name<RecomputePolicy>(wanted)};
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

std::string text_of(const Json& report) {
  std::vector<std::string> head = {"recompute"};
  head.insert(head.end(), std::begin(kColumns), std::end(kColumns));
  eval::TextTable table(head);
  for (const auto& row : report["memory_bytes"]) {
    std::vector<std::string> cells = {row["recompute"].get<std::string>()};
    for (const char* part : kColumns)
      cells.push_back(format_bytes(static_cast<int64_t>(row[part].get<double>())));
    table.row(cells);
  }
  return fmt::format("{}: {} parameters; a device of {}, when its step needs most:\n{}",
                     report["model"].get<std::string>(), report["parameters"].get<int64_t>(),
                     report["devices"].get<int64_t>(), table.text());
}

int run(Args& args) {
  if (args.devices < 1 || args.devices > 4096) {
    fail(ExitCode::kUsage, fmt::format("{} devices", args.devices), "1 to 4096");
  }
  const auto wanted = policies(args.recompute);
  const app::PlannedModel planned = app::planned_model(args.model, args.shape);
  Json rows = Json::array();
  for (const auto policy : wanted) {
    nn::BlockOptions blocks = planned.blocks;
    blocks.recompute = policy;
    rows.push_back(parts(
        app::step_memory(planned.spec, planned.optimizer, blocks, static_cast<int>(args.devices))));
    rows.back()["recompute"] = to_name(policy);
  }
  const Json report = {{"model", args.model},
                       {"parameters", planned.spec.parameters->element_count()},
                       {"devices", args.devices},
                       {"memory_bytes", rows}};
  if (args.json) {
    print_json(report);
  } else {
    std::cout << text_of(report);
  }
  return 0;
}

}  // namespace

const Command kPlanMemory = {"plan memory", "memory of a training step of hum's own, by parts",
                             "hum plan memory coarse --devices 4 --batch 8",
                             make_command<Args, run>};

}  // namespace hum::cli

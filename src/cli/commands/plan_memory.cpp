// hum plan memory: shows the device memory of a training step of hum's own models.
#include <iostream>

#include "app/plan/memory_report.h"
#include "cli/commands/plan.h"
#include "models/registry.h"

namespace hum::cli {
namespace {

struct Args {
  app::MemoryOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("model", options.model,
                 models::trained_models() +
                     ", tiny, 385m, 10b, a YAML configuration, llama-7b, ..., or a Llama's "
                     "config.json");
    v("devices", options.devices, "data-parallel devices; each holds all weights and moments");
    v("batch", options.shape.batch, "items per device (0: the configuration's; for a Llama 1)");
    v("seq", options.shape.seq, "Llama only: tokens per sequence (0: its longest)");
    v("compute", options.shape.compute, "Llama only: type of activations, f32 or bf16 (default)");
    v("weights", options.shape.weights,
      "type of weights: f32 or bf16 (default: the configuration's; for a Llama f32)");
    v("recompute", options.recompute, "none|selective|full; all: one row for each");
    v("json", json, "print the memory as JSON");
  }
};

int run(Args& args) {
  const Json report = app::memory_report(args.options);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::memory_text(report);
  }
  return 0;
}

}  // namespace

const Command kPlanMemory = {"plan memory", "show the memory of a training step by component",
                             "hum plan memory coarse --devices 4 --batch 8",
                             make_command<Args, run>};

}  // namespace hum::cli

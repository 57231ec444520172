// hum plan: predicts the memory, time and cost of a training run on a cluster.
#include "cli/commands/plan.h"

#include <iostream>

#include "app/plan/cluster_outlook.h"
#include "base/error.h"
#include "base/json.h"
#include "plan/named_models.h"

namespace hum::cli {
namespace {

struct Args {
  app::OutlookOptions options;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v("model", options.model,
      "a name (" + plan::known_models() + ") or a Hugging Face config.json");
    v("cluster", options.cluster, "hardware:nodes, e.g. trn1.32xlarge:16, or the family: trn1:16");
    v("seq", options.seq, "tokens per sequence (0: the model's longest)");
    options.layout.visit_fields(v);
    options.goal.visit_fields(v);
    v("search", options.search, "list every layout that fits, fastest first");
    v("plot", options.plot, "plot of these layouts (.svg): step time, memory and cost");
    v("calibration", options.calibration,
      "calibration from hum plan calibrate (default: the hardware's own)");
    v("hardware_file", options.hardware_file,
      "file that describes hardware (default: hardware/devices.yaml)");
    v("json", json, "print the plan as JSON");
  }
};

int run(Args& args) {
  if (args.options.model.empty() || args.options.cluster.empty()) {
    fail(ExitCode::kUsage, "hum plan needs --model and --cluster",
         "hum plan --model llama-7b --cluster trn1.32xlarge:16 --batch 1024; or one of its "
         "commands: hum plan --help");
  }
  const Json report = app::look_ahead(args.options);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::outlook_text(report);
  }
  return 0;
}

}  // namespace

const Command kPlan = {"plan", "predict memory, time and cost of a training run",
                       "hum plan --model llama-7b --cluster trn1.32xlarge:16 --batch 1024 "
                       "--tokens 1e12",
                       make_command<Args, run>};

}  // namespace hum::cli

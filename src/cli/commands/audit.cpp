// hum audit: checks whether a platform can run every op of a model's training step.
#include <iostream>

#include "app/training/model_step_reports.h"
#include "base/error.h"
#include "cli/commands/commands.h"
#include "models/registry.h"

namespace hum::cli {
namespace {

struct Args {
  std::string model;
  std::string platform = "neuron";
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("model", model, models::trained_models() + ", 385m, 10b, or a YAML configuration");
    v("platform", platform, "platform to check: cpu, cuda, tpu or neuron");
    v("json", json, "print the result as JSON");
  }
};

int run(Args& args) {
  const Json report = app::platform_audit_report(args.model, args.platform);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::platform_audit_text(report);
  }
  return report["supported"] ? 0 : static_cast<int>(ExitCode::kUnavailable);
}

}  // namespace

const Command kAudit = {"audit", "check whether a platform can run every op of a model",
                        "hum audit coarse --platform neuron", make_command<Args, run>};

}  // namespace hum::cli

// hum audit: every op of a model's training step against what a platform can run.
#include <iostream>

#include "app/training/model_step.h"
#include "base/fields_json.h"
#include "cli/commands/commands.h"
#include "graph/passes/passes.h"
#include "graph/profile/profile.h"
#include "kernels/table.h"

namespace hum::cli {
namespace {

struct Args {
  std::string model;
  std::string platform = "neuron";
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("model", model, models::trained_models() + ", 385m, 10b, or a configuration");
    v("platform", platform, "cpu, cuda, tpu or neuron");
    v("json", json, "print the result as JSON");
  }
};

Json to_json(const graph::AuditRow& row) {
  return {{"op", row.op},     {"count", row.count},   {"verdict", graph::to_name(row.verdict)},
          {"what", row.what}, {"source", row.source}, {"where", row.where}};
}

void print(const graph::AuditRow& row) {
  std::cout << fmt::format("{:<12}{:>6}  {:<34}{}\n", graph::to_name(row.verdict), row.count,
                           row.op, row.what);
  if (row.verdict == graph::Verdict::kNative && row.what.empty()) return;
  std::cout << fmt::format("{:20}made at {}\n", "", fmt::join(row.where, ", "));
  if (!row.source.empty()) std::cout << fmt::format("{:20}source: {}\n", "", row.source);
}

int run(Args& args) {
  const graph::Profile& profile = graph::profile_named(args.platform);
  const auto configuration = app::read_configuration(app::configuration_path(args.model));
  if (configuration.row->audit == models::PlatformAudit::kNone) {
    fail(ExitCode::kUsage, fmt::format("{} has nothing to audit", configuration.row->name),
         "hum audits training steps: of " + models::trained_models());
  }
  const app::ModelStep step = app::model_step(configuration);
  auto function =
      train::step_function(step.spec, step.loop.optimizer, step.loop.step_options().blocks)
          .function;
  function = graph::run_passes(function).function;
  const graph::Audit audit = graph::audit(function, profile, kernels::available);
  if (args.json) {
    Json rows = Json::array();
    for (const auto& row : audit.rows) rows.push_back(to_json(row));
    print_json({{"program", function.name},
                {"platform", profile.name},
                {"supported", audit.is_supported()},
                {"ops", rows}});
  } else {
    for (const auto& row : audit.rows) print(row);
    std::cout << fmt::format("{} {} on {}\n", function.name,
                             audit.is_supported() ? "can run" : "cannot run", profile.name);
  }
  return audit.is_supported() ? 0 : static_cast<int>(ExitCode::kUnavailable);
}

}  // namespace

const Command kAudit = {"audit", "check every op of a model against what a platform can run",
                        "hum audit coarse --platform neuron", make_command<Args, run>};

}  // namespace hum::cli

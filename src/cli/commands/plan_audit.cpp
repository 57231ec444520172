// hum plan audit: contradictions of a training plan.
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "app/plan/report.h"
#include "base/json.h"
#include "base/log.h"
#include "base/names.h"
#include "cli/commands/plan.h"
#include "plan/audit.h"

namespace hum::cli {
namespace {

// The exit code of a plan that was read and contradicts itself.
constexpr int kContradiction = 3;

struct Args {
  std::vector<std::string> files;
  std::string hardware, hardware_file;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("files", files,
                 "files of one plan: a plan, a training configuration, a Hugging Face config.json, "
                 "a script for sbatch or torchrun");
    v("hardware", hardware, "a node's, where the files do not say");
    v("hardware_file", hardware_file, "figures of hardware (default: hardware/devices.yaml)");
    v("json", json, "print the checks as JSON");
  }
};

// Figures that go unchecked must not pass for agreement.
void warn_of_unknown(const plan::PlanClaims& claims, const plan::Hardware& hardware) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : hardware.devices()) names.push_back(name);
  for (const auto& run : claims.runs) {
    if (run.hardware.empty() || hardware.find(run.hardware) != nullptr) continue;
    warn_once(run.hardware,
              fmt::format("hardware {} is not known, so its figures are not checked; the nearest "
                          "names are {}",
                          run.hardware, fmt::join(nearest_names(run.hardware, names), ", ")));
  }
}

int run(Args& args) {
  const plan::Hardware hardware = app::read_hardware(args.hardware_file);
  plan::PlanClaims claims = plan::read_claims({args.files.begin(), args.files.end()});
  if (!args.hardware.empty()) {
    hardware.at(args.hardware);
    for (auto& run : claims.runs) {
      if (run.hardware.empty()) run.hardware = args.hardware;
    }
  }
  warn_of_unknown(claims, hardware);
  const auto checks = plan::audit(claims, hardware);
  if (args.json) {
    print_json(app::audit_report(checks));
  } else {
    std::cout << app::audit_text(checks);
  }
  const bool agrees = std::ranges::all_of(checks, &plan::Check::agrees);
  return agrees ? 0 : kContradiction;
}

}  // namespace

const Command kPlanAudit = {"plan audit", "contradictions of a training plan",
                            "hum plan audit plan.yaml launch.sh", make_command<Args, run>};

}  // namespace hum::cli

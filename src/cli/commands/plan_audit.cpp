// hum plan audit: finds contradictions in a training plan.
#include <iostream>

#include "app/plan/audit_report.h"
#include "base/json.h"
#include "cli/commands/plan.h"

namespace hum::cli {
namespace {

// The exit code for a plan that can be read but contradicts itself.
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
    v("hardware", hardware, "hardware of a node, if the files do not name it");
    v("hardware_file", hardware_file,
      "file that describes hardware (default: hardware/devices.yaml)");
    v("json", json, "print the checks as JSON");
  }
};

int run(Args& args) {
  const auto audited = app::audit_plan(args.files, args.hardware, args.hardware_file);
  if (args.json) {
    print_json(app::audit_report(audited));
  } else {
    std::cout << app::audit_text(audited);
  }
  return audited.agrees() ? 0 : kContradiction;
}

}  // namespace

const Command kPlanAudit = {"plan audit", "find contradictions in a training plan",
                            "hum plan audit plan.yaml launch.sh", make_command<Args, run>};

}  // namespace hum::cli

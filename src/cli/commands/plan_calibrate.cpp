// hum plan calibrate: fits the planner's six efficiencies for one kind of hardware to measured
// runs.
#include <iostream>

#include "app/plan/planner_files.h"
#include "app/plan/prediction_report.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/commands/plan.h"
#include "plan/calibration.h"

namespace hum::cli {
namespace {

struct Args {
  std::vector<std::string> runs;
  std::string output, hardware, hardware_file;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional(
        "runs", runs,
        "CSV files of measured runs or logs of hum train (.jsonl), all on the same hardware");
    v.short_flag('o', "output", output, "calibration to write (.json)");
    v("hardware", hardware, "hardware of the runs, if the files do not name it");
    v("hardware_file", hardware_file,
      "file that describes hardware (default: hardware/devices.yaml)");
    v("json", json, "print the calibration as JSON");
  }
};

int run(Args& args) {
  if (!args.output.empty()) require_writable(args.output);
  const plan::Hardware hardware = app::read_hardware(args.hardware_file);
  const auto calibration =
      plan::calibrate({args.runs.begin(), args.runs.end()}, hardware, args.hardware);
  if (!args.output.empty()) plan::write_calibration(args.output, calibration);
  if (args.json) {
    print_json(plan::to_json(calibration));
  } else {
    std::cout << app::calibration_text(calibration);
  }
  return 0;
}

}  // namespace

const Command kPlanCalibrate = {
    "plan calibrate", "fit the planner to measured runs, cross-validated",
    "hum plan calibrate a100_runs.csv -o a100.json", make_command<Args, run>};

}  // namespace hum::cli

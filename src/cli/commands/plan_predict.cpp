// hum plan predict: predicts the step times of runs in a CSV file and compares them with measured
// ones.
#include <iostream>

#include "app/plan/planner_files.h"
#include "app/plan/prediction_report.h"
#include "base/json.h"
#include "cli/commands/plan.h"
#include "plan/calibration.h"

namespace hum::cli {
namespace {

struct Args {
  std::string runs, calibration, hardware, hardware_file;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional(
        "runs", runs,
        "log of hum train, or CSV file of runs: shapes, meshes, batches, times if measured");
    v("calibration", calibration,
      "calibration from hum plan calibrate (default: the hardware's own)");
    v("hardware", hardware, "hardware of the runs, if the file does not name it");
    v("hardware_file", hardware_file,
      "file that describes hardware (default: hardware/devices.yaml)");
    v("json", json, "print the rows and their summary as JSON");
  }
};

int run(Args& args) {
  const plan::Hardware hardware = app::read_hardware(args.hardware_file);
  const std::string calibrated =
      args.calibration.empty() ? "" : plan::read_calibration(args.calibration).device;
  const plan::Campaign campaign =
      plan::read_campaign(args.runs, hardware, args.hardware, calibrated);
  const plan::Device& device = hardware.at(campaign.device);
  const Json report = app::predictions_report(campaign, device,
                                              app::read_calibration_for(device, args.calibration));
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::predictions_text(report);
  }
  return 0;
}

}  // namespace

const Command kPlanPredict = {"plan predict", "predict the step times of runs in a CSV file",
                              "hum plan predict runs.csv --json", make_command<Args, run>};

}  // namespace hum::cli

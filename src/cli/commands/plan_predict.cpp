// hum plan predict: step times of the runs in a CSV file, beside the measured ones.
#include <iostream>

#include "app/plan/report.h"
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
        "CSV file of runs: shapes, meshes, batches, measured times or not; or a log of hum train");
    v("calibration", calibration, "a file of hum plan calibrate (default: the hardware's own)");
    v("hardware", hardware, "the hardware, where the file does not say");
    v("hardware_file", hardware_file, "figures of hardware (default: hardware/devices.yaml)");
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

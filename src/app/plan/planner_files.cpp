#include "app/plan/planner_files.h"

#include <filesystem>

#include "base/error.h"

namespace hum::app {

plan::Hardware read_hardware(const std::string& file) {
  return plan::Hardware(file.empty() ? plan::Hardware::default_path()
                                     : std::filesystem::path(file));
}

plan::Calibration read_calibration_for(const plan::Device& device, const std::string& file) {
  auto calibration = plan::read_calibration(
      file.empty() ? plan::calibration_path(device.calibrated_as()) : std::filesystem::path(file));
  if (device.may_use(calibration.device)) return calibration;
  fail(ExitCode::kUsage,
       fmt::format("{} is for {}, not for {}", file, calibration.device, device.name),
       fmt::format("use a calibration of {} (hum plan calibrate), or leave it out to use hum's own",
                   device.calibrated_as()));
}

}  // namespace hum::app

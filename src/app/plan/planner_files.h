// The files that every planner command reads: hardware and calibration.
#pragma once

#include <string>

#include "plan/calibration.h"
#include "plan/hardware.h"

namespace hum::app {

// Reads the hardware of this file; empty: hum's own.
plan::Hardware read_hardware(const std::string& file);

// Reads this calibration; empty: the device's own. Throws kUsage when it is for other hardware.
plan::Calibration read_calibration_for(const plan::Device& device, const std::string& file);

}  // namespace hum::app

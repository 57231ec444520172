// Reports of `hum plan predict` and `hum plan calibrate` as JSON and as text.
#pragma once

#include <string>

#include "base/json.h"
#include "plan/calibration.h"

namespace hum::app {

// Seconds by part.
Json step_parts(const plan::StepTime& time);

// {"hardware", "assumptions", "interval_probability", "rows": [{"name", "predicted_s", "low_s",
// "high_s", "parts_s", "measured_s", "error_percent", "outside"}], "summary"}. The summary is over
// the rows with a measured time.
Json predictions_report(const plan::Campaign& campaign, const plan::Device& device,
                        const plan::Calibration& calibration);
std::string predictions_text(const Json& report);

std::string calibration_text(const plan::Calibration& calibration);

}  // namespace hum::app

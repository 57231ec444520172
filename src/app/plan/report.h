// Reports of `hum plan predict`, `audit` and `calibrate` as JSON and as text.
#pragma once

#include <string>

#include "plan/audit.h"
#include "plan/calibration.h"

namespace hum::app {

// Reads the hardware of this file; empty: hum's own.
plan::Hardware read_hardware(const std::string& file);

// Reads this calibration; empty: the device's own. Throws kUsage when it is for other hardware.
plan::Calibration read_calibration_for(const plan::Device& device, const std::string& file);

// Seconds by part.
Json step_parts(const plan::StepTime& time);

// {"hardware", "assumptions", "interval_probability", "rows": [{"name", "predicted_s", "low_s",
// "high_s", "parts_s", "measured_s", "error_percent", "outside"}], "summary"}. The summary is over
// the rows with a measured time.
Json predictions_report(const plan::Campaign& campaign, const plan::Device& device,
                        const plan::Calibration& calibration);
std::string predictions_text(const Json& report);

struct AuditedPlan {
  plan::PlanClaims claims;
  std::vector<plan::Check> checks;
  bool agrees() const;
};
// Audits the files of one plan. `hardware`: a node's, if the files do not name it; empty: unknown.
// Warns of hardware that is not known. Throws: what plan::read_claims throws; kConfig for an
// unknown `hardware`.
AuditedPlan audit_plan(const std::vector<std::string>& files, const std::string& hardware,
                       const std::string& hardware_file);

// {"consistent", "contradictions", "checks": [{"rule", "subject", "agrees", "stated", "found",
// "places", "remedy"}], "not_read": [{"name", "value", "place"}]}, and the same as text,
// contradictions last. not_read: figures of the files that no check used, because their names are
// not known.
Json audit_report(const AuditedPlan& audited);
std::string audit_text(const AuditedPlan& audited);

std::string calibration_text(const plan::Calibration& calibration);

}  // namespace hum::app

// Audits plans for `hum plan audit`, and reports what contradicts.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "plan/audit.h"

namespace hum::app {

struct AuditedPlan {
  plan::PlanClaims claims;
  std::vector<plan::Check> checks;
  bool agrees() const;
};
// Audits the files of one plan. `hardware`: a node's, if the files do not name it; empty: unknown.
// Warns of hardware that is not known. Throws: what plan::read_claims throws; kUsage for an unknown
// `hardware`; kBadData if no figure of the plan can be checked.
AuditedPlan audit_plan(const std::vector<std::string>& files, const std::string& hardware,
                       const std::string& hardware_file);

// {"consistent", "contradictions", "checks": [{"rule", "subject", "agrees", "stated", "found",
// "places", "remedy"}], "not_read": [{"name", "value", "place"}]}, and the same as text,
// contradictions last. not_read: figures of the files that no check used, because their names are
// not known.
Json audit_report(const AuditedPlan& audited);
std::string audit_text(const AuditedPlan& audited);

}  // namespace hum::app

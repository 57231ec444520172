// Maps names in configurations and launch scripts to the figures of a plan.
#pragma once

#include <string>
#include <vector>

#include "plan/claims.h"

namespace hum::plan {

inline constexpr const char* kPlanForms =
    "sections such as models and runs (docs/formats/plans.md), settings such as hidden_size and "
    "tensor_parallel_size, or flags such as --nnodes";

// Adds the settings that are figures of a plan to its first model and first run, creating them if
// there are none; figures with other names go to `not_read`. Returns how many belong to a plan.
// Throws kBadData if one of them is not a number.
int claim_settings(const std::vector<Setting>& settings, PlanClaims& claims);

}  // namespace hum::plan

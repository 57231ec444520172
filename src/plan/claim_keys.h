// What configurations and launch scripts call the figures of a plan.
#pragma once

#include <string>
#include <vector>

#include "plan/claims.h"

namespace hum::plan {

inline constexpr const char* kPlanForms =
    "sections such as models and runs (docs/formats/plans.md), settings such as hidden_size and "
    "tensor_parallel_size, or flags such as --nnodes";

// Adds the settings that are figures of a plan to its first model and its first run, which are made
// where there are none; figures under other names to `not_read`. Returns how many were of a plan.
// Throws kBadData when one of them is no figure.
int claim_settings(const std::vector<Setting>& settings, PlanClaims& claims);

}  // namespace hum::plan

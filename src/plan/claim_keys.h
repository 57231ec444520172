// What configurations and launch scripts call the figures of a plan.
#pragma once

#include <string>
#include <vector>

#include "plan/claims.h"

namespace hum::plan {

inline constexpr const char* kPlanForms =
    "sections such as models and runs (docs/formats/plans.md), settings such as hidden_size and "
    "tensor_parallel_size, or flags such as --nnodes";

// A key, flag or variable with its text.
struct Setting {
  std::string key, value, place;
};

// Adds the settings that are figures of a plan to its first model and its first run, which are made
// where there are none. Returns how many were. Throws kBadData when one of them is no figure.
int claim_settings(const std::vector<Setting>& settings, PlanClaims& claims);

}  // namespace hum::plan

// The commands of `hum plan`.
#pragma once

#include "cli/command.h"

namespace hum::cli {

extern const Command kPlan, kPlanAssess, kPlanAudit, kPlanCalibrate, kPlanCompare, kPlanExtract,
    kPlanMemory, kPlanPredict;

}  // namespace hum::cli

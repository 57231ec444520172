// The commands of `hum plan`.
#pragma once

#include "cli/command.h"

namespace hum::cli {

extern const Command kPlan, kPlanPredict, kPlanCalibrate, kPlanAudit;

}  // namespace hum::cli

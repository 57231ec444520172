// The commands of `hum plan`.
#pragma once

#include "cli/command.h"

namespace hum::cli {

extern const Command kPlan, kPlanCompare, kPlanPredict, kPlanCalibrate;

}  // namespace hum::cli

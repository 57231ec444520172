// What a run takes that interruptions stop and checkpoints bring back: days and money.
#pragma once

#include "plan/checkpoints.h"

namespace hum::plan {

// Of 30 days, as bills and budgets reckon.
inline constexpr double kHoursPerMonth = 720;

struct RunCost {
  double checkpoint_every_s = 0;  // Daly's optimum, at least a step
  double goodput = 0;             // share of the time that goes into steps that count
  double days = 0, cost = 0;      // US dollars; 0: tokens not asked, or no price
  double cost_per_million_tokens = 0;
};

// Of a run that trains `tokens_per_s` while nothing stops it, on a cluster for `dollars_per_hour`
// (0: no price). tokens 0: not asked.
RunCost run_cost(const Interruptions& breaks, double step_s, double tokens_per_s,
                 double dollars_per_hour, double tokens);

}  // namespace hum::plan

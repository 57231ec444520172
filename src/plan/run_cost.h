// Days and money that a run takes, with interruptions and checkpoints.
#pragma once

#include "plan/checkpoints.h"

namespace hum::plan {

// A month of 30 days, as in bills and budgets.
inline constexpr double kHoursPerMonth = 720;

struct RunCost {
  double checkpoint_every_s = 0;  // Daly's optimum, at least a step
  double goodput = 0;             // share of the time spent on useful steps
  double days = 0, cost = 0;      // US dollars; 0: no tokens given, or no price
  double cost_per_million_tokens = 0;
};

// For a run that trains `tokens_per_s` without interruptions, on a cluster that costs
// `dollars_per_hour` (0: no price). tokens 0: not given.
RunCost run_cost(const Interruptions& breaks, double step_s, double tokens_per_s,
                 double dollars_per_hour, double tokens);

}  // namespace hum::plan

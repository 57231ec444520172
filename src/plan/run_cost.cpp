#include "plan/run_cost.h"

#include <algorithm>

namespace hum::plan {

RunCost run_cost(const Interruptions& breaks, double step_s, double tokens_per_s,
                 double dollars_per_hour, double tokens) {
  RunCost result;
  result.checkpoint_every_s = std::max(best_interval_s(breaks), step_s);
  result.goodput = goodput(breaks, result.checkpoint_every_s);
  const double tokens_per_hour = 3600 * tokens_per_s * result.goodput;
  result.cost_per_million_tokens = 1e6 / tokens_per_hour * dollars_per_hour;
  result.days = tokens / tokens_per_hour / 24;
  result.cost = tokens / 1e6 * result.cost_per_million_tokens;
  return result;
}

}  // namespace hum::plan

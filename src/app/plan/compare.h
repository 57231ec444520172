// What `hum plan compare` tells.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "plan/decision.h"

namespace hum::app {

struct Comparison {
  std::string model;
  plan::Transformer shape;
  plan::Market market;
  plan::Situation situation;
  std::vector<plan::Option> options;
  std::vector<plan::Phase> phases;
  plan::Tariff tariff = plan::Tariff::kOnDemand;  // of the sensitivities
  double spread = 0.2;                            // of the sensitivities
  double budget = 0;                              // US dollars; 0: not asked
};

// {"model", "tokens", "global_batch", "baseline", "clusters": [{"cluster", "devices", "fits",
// ...}], "sensitivity", "phases"}. The baseline is the first cluster that the model fits into.
// Throws kBadData when it fits into none, with the nearest that works.
Json comparison_report(const Comparison& comparison);
std::string comparison_text(const Json& report);

// Layout, step and speed of the fastest layout on a cluster.
Json figures_report(const plan::Outlook& outlook);
// Days and dollars, with the dollars' interval.
Json cost_report(const plan::Offer& offer, const plan::Prediction& prediction);

}  // namespace hum::app

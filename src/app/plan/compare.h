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

struct CompareOptions {
  // hardware:nodes or hardware, where one is now first; none: all with a price.
  std::vector<std::string> clusters;
  std::vector<int64_t> nodes = {16};  // of clusters that are given without one
  std::vector<std::string> phases;    // name=hardware:nodes:days
  int64_t seq = 0;                    // tokens a sequence; 0: the model's longest
  // A picture of the clusters, a calibration, figures of hardware; empty: none, hum's own.
  std::string plot, calibration, hardware_file;
  Comparison comparison;  // its model by name; shape, options and phases follow from the above
};

// comparison_report; writes the plot. Throws: kUsage when the calibration is of none of the
// clusters; what comparison_report and reading the files throw.
Json compare_clusters(const CompareOptions& options);

}  // namespace hum::app

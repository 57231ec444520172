// The options and the report of `hum plan compare`.
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
  double budget = 0;                              // US dollars; 0: not reported
};

// {"model", "tokens", "global_batch", "baseline", "clusters": [{"cluster", "devices", "fits",
// ...}], "sensitivity", "phases"}. The baseline is the first cluster that the model fits into.
// Throws kUsage when it fits into none, with the nearest that works.
Json comparison_report(const Comparison& comparison);
std::string comparison_text(const Json& report);

// The layout, step time and speed of the fastest layout on a cluster.
Json figures_report(const plan::Outlook& outlook);
// Days and dollars, with an interval of the dollars.
Json cost_report(const plan::Offer& offer, const plan::Prediction& prediction);

struct CompareOptions {
  // hardware:nodes or hardware, the current cluster first; empty: all hardware with a price.
  std::vector<std::string> clusters;
  std::vector<int64_t> nodes = {16};  // for clusters that are given without one
  std::vector<std::string> phases;    // name=hardware:nodes:days
  int64_t seq = 0;                    // tokens per sequence; 0: the model's longest
  // Files of the plot of the clusters (empty: none), the calibration and the hardware (empty: hum's
  // own).
  std::string plot, calibration, hardware_file;
  Comparison comparison;  // names the model; shape, options and phases come from the above
};

// Returns comparison_report and writes the plot. Throws: kUsage when the calibration is for none of
// the clusters; what comparison_report and reading the files throw.
Json compare_clusters(const CompareOptions& options);

}  // namespace hum::app

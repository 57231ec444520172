// Fits the six efficiencies of a hardware to measured runs, and measures how well the fit predicts
// unseen models.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "plan/runs.h"
#include "plan/step_time.h"

namespace hum::plan {

// Seconds of a step; a run without a micro-batch uses the fastest that fits.
double predict(const Run& run, const Device& device, const Efficiency& efficiency);

// In the order of EfficiencyVector.
inline constexpr std::array<std::string_view, kEfficiencies> kEfficiencyNames = {
    "gemm", "memory", "host_ms_per_layer", "link", "network", "sync_us"};

// Which of the six the runs determine, at the device's prior. The others hardly affect any run, or
// affect all times exactly as those do.
using Fitted = std::array<bool, kEfficiencies>;
Fitted told_apart(std::span<const Campaign> campaigns, const Device& device);

// How much the run's time depends on each: the change of log time with the parameter's logarithm.
EfficiencyVector elasticities(const Run& run, const Device& device, const Efficiency& efficiency);

// Finds the set that minimizes the mean absolute log error, with equal weight for every campaign,
// plus a penalty for deviating from the device's prior (Nelder-Mead over logarithms). `start`: the
// initial point; the prior if null. Parameters that the runs do not determine stay at the prior.
// Runs without a measured time are ignored. Throws kBadData if none is left.
Efficiency fit(std::span<const Campaign> campaigns, const Device& device,
               const Efficiency* start = nullptr);

// Predicts each run with a set fitted without any run, in any campaign, of the same (hidden,
// layers) or counted model. In the order of the campaigns' runs.
struct HeldOut {
  std::vector<std::vector<double>> seconds;  // [campaign][run]
  int64_t models = 0;
};
HeldOut leave_one_model_out(std::span<const Campaign> campaigns, const Device& device,
                            const Efficiency& all);

}  // namespace hum::plan

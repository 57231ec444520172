// Fitting the six efficiencies of a hardware to measured runs, and what that is worth on models it
// has not seen.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "plan/runs.h"
#include "plan/step_time.h"

namespace hum::plan {

// Seconds of a step; a run without a micro-batch gets the fastest that fits.
double predict(const Run& run, const Device& device, const Efficiency& efficiency);

// In the order of EfficiencyVector.
inline constexpr std::array<std::string_view, kEfficiencies> kEfficiencyNames = {
    "gemm", "memory", "host_ms_per_layer", "link", "network", "sync_us"};

// Which of the six the runs tell apart from the others; the rest hardly matter to any of them, or
// change their times just as those do. At the device's prior.
using Fitted = std::array<bool, kEfficiencies>;
Fitted told_apart(std::span<const Campaign> campaigns, const Device& device);

// How much of the run's time depends on each: the change of log time with its logarithm.
EfficiencyVector elasticities(const Run& run, const Device& device, const Efficiency& efficiency);

// The set that brings the mean absolute log error, every campaign counting the same, plus a pull
// towards the device's prior, to a minimum (Nelder-Mead over logarithms). `start`: where to begin;
// the prior when null. What the runs do not tell apart stays at the prior. Runs without a measured
// time are left out. Throws kBadData when none is left.
Efficiency fit(std::span<const Campaign> campaigns, const Device& device,
               const Efficiency* start = nullptr);

// Predictions of runs by sets that were fitted without any run, in any campaign, of the same
// (hidden, layers), or counted model. In the order of the campaigns' runs.
struct HeldOut {
  std::vector<std::vector<double>> seconds;  // [campaign][run]
  int64_t models = 0;
};
HeldOut leave_one_model_out(std::span<const Campaign> campaigns, const Device& device,
                            const Efficiency& all);

}  // namespace hum::plan

#include "plan/baselines.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "base/error.h"
#include "plan/outlook.h"

namespace hum::plan {

namespace {

// FLOPs that one device executes per step.
double device_flops(const Run& run) {
  return static_cast<double>(run.layout.global_batch) *
         executed_flops_per_sequence(run.model, run.layout) /
         static_cast<double>(run.layout.devices());
}

// The constant rate that minimizes the mean absolute error of these runs' times: the median of
// seconds per FLOP, weighted by rate. 0 if no run is accepted.
double best_rate(const Campaign& campaign, const std::function<bool(const Run&)>& accepted) {
  std::vector<double> rates;
  double sum = 0;
  for (const Run& run : campaign.runs) {
    if (run.measured_s <= 0 || !accepted(run)) continue;
    rates.push_back(device_flops(run) / run.measured_s);
    sum += rates.back();
  }
  std::ranges::sort(rates, std::greater<>());
  double reached = 0;
  for (const double rate : rates) {
    reached += rate;
    if (2 * reached >= sum) return rate;
  }
  return 0;
}

bool same_model(const Run& a, const Run& b) {
  return a.model.hidden == b.model.hidden && a.model.layers == b.model.layers;
}

}  // namespace

std::vector<double> null_model_held_out(const Campaign& campaign, bool per_tp) {
  std::vector<double> seconds;
  for (const Run& run : campaign.runs) {
    const auto other = [&](const Run& r) { return !same_model(r, run); };
    double rate = best_rate(campaign, [&](const Run& r) {
      return other(r) && (!per_tp || r.layout.tp == run.layout.tp);
    });
    if (rate <= 0) rate = best_rate(campaign, other);
    HUM_REQUIRE(rate > 0, "a null model needs runs of at least two models");
    seconds.push_back(device_flops(run) / rate);
  }
  return seconds;
}

Regret top_regret(const Campaign& campaign, std::span<const double> predicted) {
  HUM_REQUIRE(predicted.size() == campaign.runs.size(), "need one prediction per run");
  struct Choice {
    double predicted_s, measured_s, fastest_s;
    int64_t plans = 0;
  };
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, Choice> groups;
  for (size_t i = 0; i < predicted.size(); ++i) {
    const Run& run = campaign.runs[i];
    if (run.measured_s <= 0) continue;
    const auto [entry, is_new] = groups.try_emplace(
        {run.model.hidden, run.model.layers, run.layout.devices(), run.layout.global_batch},
        Choice{predicted[i], run.measured_s, run.measured_s});
    Choice& choice = entry->second;
    ++choice.plans;
    choice.fastest_s = std::min(choice.fastest_s, run.measured_s);
    if (predicted[i] < choice.predicted_s) {
      choice.predicted_s = predicted[i];
      choice.measured_s = run.measured_s;
    }
  }
  Regret regret;
  for (const auto& [key, choice] : groups) {
    if (choice.plans < 2) continue;
    ++regret.decisions;
    regret.plans += choice.plans;
    regret.worst_percent =
        std::max(regret.worst_percent, 100 * (choice.measured_s / choice.fastest_s - 1));
  }
  return regret;
}

}  // namespace hum::plan

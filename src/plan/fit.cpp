#include "plan/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "plan/nelder_mead.h"

namespace hum::plan {

namespace {

// The pull: one tenth off (half for the host's time, a factor e for waits) in every efficiency
// costs as much as one percent of error.
constexpr double kPull = 0.01;
constexpr EfficiencyVector kPriorWidth = {0.1, 0.1, 0.5, 0.1, 0.1, 1.0};
// Errors count linearly from about here on, so that a few disturbed measurements do not steer.
constexpr double kSmooth = 0.01;

using Model = std::pair<int64_t, int64_t>;
Model model_of(const Run& run) { return {run.model.hidden, run.model.layers}; }

struct Sample {
  const Run* run;
  double weight;
};

std::vector<Sample> samples_without(std::span<const Campaign> campaigns, const Model* left_out) {
  std::vector<Sample> samples;
  for (const Campaign& campaign : campaigns) {
    const size_t first = samples.size();
    for (const Run& run : campaign.runs) {
      if (run.measured_s > 0 && !(left_out && model_of(run) == *left_out))
        samples.push_back({&run, 0});
    }
    for (size_t i = first; i < samples.size(); ++i)
      samples[i].weight = 1.0 / static_cast<double>(samples.size() - first);
  }
  return samples;
}

Point logs(const Efficiency& efficiency) {
  Point at;
  for (const double x : to_vector(efficiency)) at.push_back(std::log(x));
  return at;
}

Efficiency from_logs(const Point& at) {
  EfficiencyVector v;
  for (size_t i = 0; i < v.size(); ++i) v[i] = std::exp(at[i]);
  return from_vector(v);
}

Efficiency fit_samples(const std::vector<Sample>& samples, const Device& device,
                       const Efficiency& start) {
  const Point prior = logs(device.prior);
  const auto loss = [&](const Point& at) {
    const Efficiency efficiency = from_logs(at);
    if (std::max({efficiency.gemm, efficiency.memory, efficiency.link, efficiency.network}) > 1)
      return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const Sample& sample : samples) {
      const double error =
          std::log(predict(*sample.run, device, efficiency) / sample.run->measured_s);
      sum += sample.weight * std::hypot(error, kSmooth);
    }
    for (size_t i = 0; i < at.size(); ++i) {
      const double off = (at[i] - prior[i]) / kPriorWidth[i];
      sum += kPull / kEfficiencies * off * off;
    }
    return sum;
  };
  return from_logs(minimize(loss, logs(start), 0.1, 1e-3));
}

}  // namespace

double predict(const Run& run, const Device& device, const Efficiency& efficiency) {
  const Layout layout = complete_layout(run.model, run.layout, device, efficiency);
  return step_time(run.model, layout, device, efficiency).total();
}

Efficiency fit(std::span<const Campaign> campaigns, const Device& device, const Efficiency* start) {
  const auto samples = samples_without(campaigns, nullptr);
  if (samples.empty())
    fail(ExitCode::kBadData, "no run has a measured time",
         "a column iteration_s (docs/formats/runs.md)");
  return fit_samples(samples, device, start ? *start : device.prior);
}

HeldOut leave_one_model_out(std::span<const Campaign> campaigns, const Device& device,
                            const Efficiency& all) {
  std::set<Model> models;
  HeldOut held;
  for (const Campaign& campaign : campaigns) {
    held.seconds.emplace_back(campaign.runs.size(), 0.0);
    for (const Run& run : campaign.runs) models.insert(model_of(run));
  }
  held.models = static_cast<int64_t>(models.size());
  for (const Model& model : models) {
    const auto samples = samples_without(campaigns, &model);
    const Efficiency without = samples.empty() ? device.prior : fit_samples(samples, device, all);
    for (size_t c = 0; c < campaigns.size(); ++c) {
      for (size_t i = 0; i < campaigns[c].runs.size(); ++i) {
        const Run& run = campaigns[c].runs[i];
        if (model_of(run) == model) held.seconds[c][i] = predict(run, device, without);
      }
    }
  }
  return held;
}

}  // namespace hum::plan

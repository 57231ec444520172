#include "plan/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "base/error.h"
#include "plan/nelder_mead.h"

namespace hum::plan {

namespace {

// Regularization: a deviation of 10 % from the prior (50 % for the host's time, a factor e for
// waits) in every efficiency costs as much as a prediction error of 1 %.
constexpr double kPull = 0.01;
constexpr EfficiencyVector kPriorWidth = {0.1, 0.1, 0.5, 0.1, 0.1, 1.0};
// Above about this error the loss is linear, so that a few outliers do not dominate.
constexpr double kSmooth = 0.01;

// Smallest norm of a parameter's elasticities after removing those of the parameters chosen before
// it. It corresponds to one run whose time changes by 0.7 % if the parameter changes by 10 %.
constexpr double kToldApart = 0.07;

using Model = std::tuple<int64_t, int64_t, std::string>;
Model model_of(const Run& run) {
  return {run.model.hidden, run.model.layers, run.work ? run.work->model : ""};
}

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

double dot(const Point& a, const Point& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Which parameters the runs distinguish: Gram-Schmidt with pivoting over the columns d log time / d
// log parameter.
Fitted told_apart(const std::vector<Sample>& samples, const Device& device) {
  std::array<Point, kEfficiencies> columns;
  for (const Sample& sample : samples) {
    const auto row = elasticities(*sample.run, device, device.prior);
    for (size_t i = 0; i < row.size(); ++i) columns[i].push_back(row[i]);
  }
  Fitted fitted = {};
  for (size_t round = 0; round < std::min<size_t>(samples.size(), kEfficiencies); ++round) {
    const auto most =
        std::ranges::max_element(columns, {}, [](const Point& c) { return dot(c, c); });
    const Point pivot = *most;
    const double squares = dot(pivot, pivot);
    if (std::sqrt(squares) < kToldApart) break;
    fitted[static_cast<size_t>(most - columns.begin())] = true;
    for (Point& column : columns) {
      const double share = dot(column, pivot) / squares;
      for (size_t r = 0; r < pivot.size(); ++r) column[r] -= share * pivot[r];
    }
  }
  return fitted;
}

// Logarithms of the chosen parameters, and back; `rest` supplies the others.
Point logs(const Efficiency& efficiency, const Fitted& chosen) {
  const auto values = to_vector(efficiency);
  Point at;
  for (size_t i = 0; i < values.size(); ++i) {
    if (chosen[i]) at.push_back(std::log(values[i]));
  }
  return at;
}

Efficiency from_logs(const Point& at, const Fitted& chosen, const Efficiency& rest) {
  EfficiencyVector v = to_vector(rest);
  size_t next = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (chosen[i]) v[i] = std::exp(at[next++]);
  }
  return from_vector(v);
}

Efficiency fit_samples(const std::vector<Sample>& samples, const Device& device,
                       const Efficiency& start) {
  const Fitted chosen = told_apart(samples, device);
  const EfficiencyVector prior = to_vector(device.prior);
  const auto loss = [&](const Point& at) {
    const Efficiency efficiency = from_logs(at, chosen, device.prior);
    const EfficiencyVector values = to_vector(efficiency);
    if (std::max({efficiency.gemm, efficiency.memory, efficiency.link, efficiency.network}) > 1)
      return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const Sample& sample : samples) {
      const double error =
          std::log(predict(*sample.run, device, efficiency) / sample.run->measured_s);
      sum += sample.weight * std::hypot(error, kSmooth);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const double off = std::log(values[i] / prior[i]) / kPriorWidth[i];
      sum += kPull / kEfficiencies * off * off;
    }
    return sum;
  };
  return from_logs(minimize(loss, logs(start, chosen), 0.1, 1e-3), chosen, device.prior);
}

}  // namespace

EfficiencyVector elasticities(const Run& run, const Device& device, const Efficiency& efficiency) {
  constexpr double kStep = 1.1;
  const EfficiencyVector at = to_vector(efficiency);
  const double seconds = predict(run, device, efficiency);
  EfficiencyVector result;
  for (size_t i = 0; i < at.size(); ++i) {
    EfficiencyVector moved = at;
    moved[i] /= kStep;
    result[i] = std::log(seconds / predict(run, device, from_vector(moved))) / std::log(kStep);
  }
  return result;
}

Fitted told_apart(std::span<const Campaign> campaigns, const Device& device) {
  return told_apart(samples_without(campaigns, nullptr), device);
}

double predict(const Run& run, const Device& device, const Efficiency& efficiency) {
  if (run.work) return step_time(*run.work, device, efficiency).total();
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

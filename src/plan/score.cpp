#include "plan/score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hum::plan {

namespace {

// Ranks from 0; ties get their mean rank.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> rank(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) rank[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return rank;
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const double n = static_cast<double>(a.size());
  const double mean_a = std::reduce(a.begin(), a.end()) / n;
  const double mean_b = std::reduce(b.begin(), b.end()) / n;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace

Score score(std::span<const double> predicted, std::span<const double> measured) {
  HUM_CHECK(predicted.size() == measured.size());
  Score score{.rows = static_cast<int64_t>(measured.size())};
  if (measured.empty()) return score;
  for (size_t i = 0; i < measured.size(); ++i) {
    const double error = 100 * (predicted[i] / measured[i] - 1);
    score.mape_percent += std::abs(error) / static_cast<double>(measured.size());
    score.bias_percent += error / static_cast<double>(measured.size());
    score.worst_percent = std::max(score.worst_percent, std::abs(error));
  }
  score.rank_correlation = correlation(ranks(predicted), ranks(measured));
  return score;
}

double conformal_half_width(std::vector<double> log_errors, double probability) {
  for (double& error : log_errors) error = std::abs(error);
  std::ranges::sort(log_errors);
  const double rank = std::ceil(static_cast<double>(log_errors.size() + 1) * probability);
  if (rank > static_cast<double>(log_errors.size())) return std::numeric_limits<double>::infinity();
  return log_errors[static_cast<size_t>(rank) - 1];
}

}  // namespace hum::plan

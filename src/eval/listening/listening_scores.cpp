#include "eval/listening/listening_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "base/quantile.h"
#include "eval/listening/mushra.h"

namespace hum::eval {
namespace {

constexpr double kLowReference = 90;
constexpr int64_t kMaxLowReferences_percent = 15;
constexpr double kConfidence = 0.95;

// P(|T| <= t). Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
double probability_within(double t, int64_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const bool is_odd = degrees % 2 == 1;
  const double cosine = std::cos(angle);
  double term = is_odd ? cosine : 1, sum = 0;
  for (int64_t power = is_odd ? 1 : 0; power <= degrees - 2; power += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(power + 1) / static_cast<double>(power + 2);
  }
  const double product = std::sin(angle) * sum;
  return is_odd ? 2 / std::numbers::pi * (angle + product) : product;
}

ScreenedListener screened(const Answers& answers) {
  ScreenedListener result{
      .listener = answers.listener, .file = answers.file, .trials = std::ssize(answers.trials)};
  for (const RatedTrial& trial : answers.trials) {
    if (trial.scores.at(std::string(kHiddenReference)) < kLowReference) ++result.low_references;
  }
  result.is_excluded = 100 * result.low_references > kMaxLowReferences_percent * result.trials;
  return result;
}

SystemScore summary_of(const std::string& system, const std::vector<double>& scores) {
  const auto count = static_cast<double>(scores.size());
  SystemScore result{.system = system,
                     .scores = std::ssize(scores),
                     .mean = std::accumulate(scores.begin(), scores.end(), 0.0) / count,
                     .median = median(scores)};
  double half_width = std::numeric_limits<double>::quiet_NaN();
  if (scores.size() > 1) {
    double squares = 0;
    for (const double score : scores) squares += (score - result.mean) * (score - result.mean);
    const double deviation = std::sqrt(squares / (count - 1));
    half_width = student_t(kConfidence, std::ssize(scores) - 1) * deviation / std::sqrt(count);
  }
  result.low = result.mean - half_width;
  result.high = result.mean + half_width;
  return result;
}

}  // namespace

double student_t(double confidence, int64_t degrees) {
  HUM_REQUIRE(degrees >= 1 && confidence > 0 && confidence < 1,
              "student_t: no such distribution: confidence {}, {} degrees of freedom", confidence,
              degrees);
  double low = 0, high = 1;
  while (probability_within(high, degrees) < confidence) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (probability_within(middle, degrees) < confidence ? low : high) = middle;
  }
  return high;
}

ListeningScores listening_scores(std::span<const Answers> all) {
  ListeningScores result;
  std::map<std::string, std::vector<double>> scores;
  for (const Answers& answers : all) {
    result.listeners.push_back(screened(answers));
    if (result.listeners.back().is_excluded) continue;
    for (const RatedTrial& trial : answers.trials) {
      for (const auto& [system, score] : trial.scores) scores[system].push_back(score);
    }
  }
  for (const auto& [system, values] : scores) result.systems.push_back(summary_of(system, values));
  std::ranges::stable_sort(result.systems, std::greater{}, &SystemScore::mean);
  return result;
}

}  // namespace hum::eval

// Rules about prices, bills, and comparisons of runs.
#include <cmath>

#include "plan/audit_impl.h"
#include "plan/compare.h"

namespace hum::plan::internal {

namespace {

// Prices differ by region and are quoted in round figures.
constexpr double kPriceShare = 0.1;
// Difference in tokens up to which two runs count as the same job.
constexpr double kJobShare = 0.05;

void check_rounded(const std::string& subject, const Stated& stated, const char* what,
                   const Side& found, Places where, Checks& checks, std::string remedy) {
  checks.push_back({"",
                    subject,
                    is_rounded(stated.value(), found.value),
                    {stated.value(), what},
                    found,
                    std::move(where),
                    std::move(remedy)});
}

// US dollars per hour of all nodes: price per node x nodes, else as stated.
std::optional<double> hourly(const RunClaims& run) {
  if (run.price_per_node_hour && run.nodes)
    return run.price_per_node_hour.value() * run.nodes.value();
  if (run.price_per_hour) return run.price_per_hour.value();
  return std::nullopt;
}

void check_hour(const RunFacts& run, Checks& checks) {
  const RunClaims& r = run.run;
  if (!r.price_per_hour || !r.price_per_node_hour || !r.nodes) return;
  check_rounded(run.subject(), r.price_per_hour, "$ per hour",
                {*hourly(r),
                 fmt::format("$: {} nodes x ${}", r.nodes.value(), r.price_per_node_hour.value())},
                places(r.price_per_hour, r.price_per_node_hour, r.nodes), checks,
                "$" + figure_text(*hourly(r)));
}

// Checks the cost of `hours`. The remedy is the computed cost, or the price that gives the stated
// one.
void check_time(const RunFacts& run, const Stated& cost, const char* what, double hours,
                Checks& checks) {
  const RunClaims& r = run.run;
  if (!cost || !hourly(r)) return;
  const double bill = *hourly(r) * hours;
  std::string remedy = "$" + figure_text(bill);
  if (r.nodes) {
    remedy += fmt::format(", or ${:.2f} per node and hour", cost.value() / hours / r.nodes.value());
  }
  check_rounded(run.subject(), cost, what,
                {bill, fmt::format("$: ${} per hour x {} h", figure_text(*hourly(r)), hours)},
                places(cost, r.price_per_node_hour, r.price_per_hour, r.nodes, r.days), checks,
                std::move(remedy));
}

void check_sums(const RunFacts& run, const Facts& facts, Checks& checks) {
  const RunClaims& r = run.run;
  if (r.total_cost && r.compute_cost && r.other_cost) {
    const double sum = r.compute_cost.value() + r.other_cost.value();
    check_rounded(run.subject(), r.total_cost, "$ in total", {sum, "compute + other"},
                  places(r.total_cost, r.compute_cost, r.other_cost), checks,
                  "$" + figure_text(sum));
  }
  if (!r.total_cost || r.parts.empty()) return;
  double sum = 0;
  for (const std::string& part : r.parts) sum += facts.run(part).cost().value_or(0);
  check_rounded(run.subject(), r.total_cost, "$ in total",
                {sum, fmt::format("$: {}", fmt::join(r.parts, " + "))}, places(r.total_cost),
                checks, "$" + figure_text(sum));
}

// Reserved prices are those of the longest term; shorter terms cost more, up to the on-demand
// price.
bool is_reserved_price(const Device& device, double price) {
  return price >= (1 - kPriceShare) * device.reserved_per_node_hour.value &&
         price <= device.price_per_node_hour.value;
}

void check_list_price(const std::string& subject, const Stated& stated, const Device& device,
                      Tariff tariff, const Facts& facts, Checks& checks) {
  const Figure& price = node_price(device, tariff);
  if (!stated || price.value <= 0) return;
  const bool reserved = tariff == Tariff::kReserved;
  const bool agrees = reserved ? is_reserved_price(device, stated.value())
                               : is_within(price.value, stated.value(), kPriceShare);
  std::string remedy =
      fmt::format("${:.2f}{}", price.value, reserved ? ", more for shorter terms" : "");
  for (const auto& [name, other] : facts.hardware.devices()) {
    if (agrees || node_price(other, tariff).value <= 0) continue;
    if (is_within(node_price(other, tariff).value, stated.value(), 0.01)) {
      remedy += fmt::format("; ${:.2f} is the price of {}", stated.value(), name);
    }
  }
  checks.push_back({"",
                    subject,
                    agrees,
                    {stated.value(), fmt::format("$ per node and hour of {}{}", device.name,
                                                 reserved ? ", reserved" : "")},
                    {price.value, fmt::format("according to {} ({})", price.source, price.date)},
                    places(stated),
                    remedy});
}

// Checks a stated change in percent against one derived from two figures.
void check_percent(const ComparisonClaims& comparison, const Stated& stated, const char* what,
                   double run, double baseline, double sign, Checks& checks) {
  const double percent = sign * 100 * (run - baseline) / baseline;
  checks.push_back({"",
                    "comparison " + comparison.name,
                    is_same_percent(stated.value(), percent),
                    {stated.value(), what},
                    {percent, fmt::format("%: {} vs {}", figure_text(run), figure_text(baseline))},
                    places(stated),
                    fmt::format("{:.1f} %", percent)});
}

}  // namespace

void check_bill(const Facts& facts, Checks& checks) {
  for (const RunFacts& run : facts.runs()) {
    check_hour(run, checks);
    const RunClaims& r = run.run;
    if (r.days) {
      check_time(run, r.compute_cost, "$ for compute", 24 * r.days.value(), checks);
      // A total that is not broken down is the cost of the nodes.
      const bool whole = !r.compute_cost && !r.other_cost && r.parts.empty();
      if (whole) check_time(run, r.total_cost, "$ in total", 24 * r.days.value(), checks);
    }
    check_time(run, r.cost_per_month, "$ per month", kHoursPerMonth, checks);
    check_sums(run, facts, checks);
  }
}

void check_price(const Facts& facts, Checks& checks) {
  for (const RunFacts& run : facts.runs()) {
    if (run.device == nullptr) continue;
    check_list_price(run.subject(), run.run.price_per_node_hour, *run.device,
                     run.run.reserved ? Tariff::kReserved : Tariff::kOnDemand, facts, checks);
  }
  for (const HardwareClaims& quoted : facts.claims.hardware) {
    const Device* device = facts.device(quoted.name);
    if (device == nullptr) continue;
    check_list_price(quoted.name, quoted.price_per_node_hour, *device, Tariff::kOnDemand, facts,
                     checks);
  }
}

void check_savings(const Facts& facts, Checks& checks) {
  for (const ComparisonClaims& comparison : facts.claims.comparisons) {
    const RunFacts run = facts.run(comparison.run), baseline = facts.run(comparison.baseline);
    if (comparison.saving_percent && run.cost() && baseline.cost()) {
      check_percent(comparison, comparison.saving_percent, "% saved", *run.cost(), *baseline.cost(),
                    -1, checks);
    }
    if (comparison.monthly_saving_percent && run.run.cost_per_month &&
        baseline.run.cost_per_month) {
      check_percent(comparison, comparison.monthly_saving_percent, "% saved per month",
                    run.run.cost_per_month.value(), baseline.run.cost_per_month.value(), -1,
                    checks);
    }
  }
}

void check_speed(const Facts& facts, Checks& checks) {
  for (const ComparisonClaims& comparison : facts.claims.comparisons) {
    const RunFacts run = facts.run(comparison.run), baseline = facts.run(comparison.baseline);
    const Stated &days = run.run.days, &baseline_days = baseline.run.days;
    if (comparison.speedup && days && baseline_days) {
      const double speedup = baseline_days.value() / days.value();
      check_rounded(
          "comparison " + comparison.name, comparison.speedup, "times as fast",
          {speedup, fmt::format("times: {} vs {} days", days.value(), baseline_days.value())},
          places(comparison.speedup, days, baseline_days), checks, fmt::format("{:.2f}", speedup));
    }
    const Stated &rate = run.run.tokens_per_second, &other = baseline.run.tokens_per_second;
    if (comparison.throughput_gain_percent && rate && other) {
      check_percent(comparison, comparison.throughput_gain_percent, "% more tokens per second",
                    rate.value(), other.value(), 1, checks);
    }
  }
}

void check_same_job(const Facts& facts, Checks& checks) {
  for (const ComparisonClaims& comparison : facts.claims.comparisons) {
    if (!comparison.same_job) continue;
    const RunFacts run = facts.run(comparison.run), baseline = facts.run(comparison.baseline);
    const auto tokens = run.trained_tokens(), wanted = baseline.trained_tokens();
    if (!tokens || !wanted || !run.run.days) continue;
    const double days = run.run.days.value() * *wanted / *tokens;
    std::string remedy = fmt::format("{:.2f} days", days);
    if (const auto price = hourly(run.run)) {
      remedy += fmt::format(" for ${}", figure_text(*price * 24 * days));
      if (baseline.cost()) remedy += fmt::format(" vs ${}", figure_text(*baseline.cost()));
    }
    checks.push_back({"",
                      "comparison " + comparison.name,
                      is_within(*wanted, *tokens, kJobShare),
                      {*tokens, "tokens of " + comparison.run},
                      {*wanted, "tokens of " + comparison.baseline},
                      places(run.run.days, run.run.tokens_per_second, baseline.run.days,
                             baseline.run.tokens_per_second),
                      remedy});
  }
}

}  // namespace hum::plan::internal

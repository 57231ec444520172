#include "plan/decision.h"

#include <charconv>
#include <cmath>

#include "base/error.h"

namespace hum::plan {

namespace {

// The reason to stay; "" if there is none.
std::string reason_to_stay(const Situation& situation, double budget, const Migration& move,
                           double run_days) {
  const double months = situation.project_months;
  if (situation.custom_architecture) return "custom operators: the target's compiler may lack them";
  if (months > 0 && months < kShortestProjectMonths)
    return fmt::format("the project lasts {:g} months, less than {:g}", months,
                       kShortestProjectMonths);
  if (budget < kPilotBudget)
    return fmt::format("${:.0f} per month, below ${:.0f}", budget, kPilotBudget);
  if (move.saving_per_run <= 0)
    return fmt::format("a run costs ${:.0f} more on the target", -move.saving_per_run);
  const double break_even_months = move.break_even_runs * run_days * 24 / kHoursPerMonth;
  if (months > 0 && break_even_months > months)
    return fmt::format("paid back after {:.1f} months, but the project lasts {:g}",
                       break_even_months, months);
  return "";
}

int64_t whole(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end ? value : 0;
}

double number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(value) ? value : 0;
}

}  // namespace

double monthly_budget(const Option& from, const Situation& situation) {
  if (situation.monthly_budget > 0) return situation.monthly_budget;
  return from.on_demand().node_hour * static_cast<double>(from.nodes) * kHoursPerMonth;
}

Verdict decide(const Option& from, const Option& to, const Market& market,
               const Situation& situation) {
  for (const double value : {situation.monthly_budget, situation.project_months}) {
    if (!(value >= 0) || !std::isfinite(value))
      fail(ExitCode::kUsage, fmt::format("a budget or project length of {}", value),
           "0: not given");
  }
  const Migration move = migrate(from, to, market);
  const double budget = monthly_budget(from, situation), days = to.on_demand().days;
  Verdict verdict;
  if (const std::string why = reason_to_stay(situation, budget, move, days); !why.empty()) {
    verdict.reasons = {why};
    return verdict;
  }
  verdict.advice = Advice::kMove;
  if (budget <= kMoveBudget) {
    verdict.advice = Advice::kPilot;
    verdict.reasons.push_back(
        fmt::format("${:.0f} per month, not above ${:.0f}", budget, kMoveBudget));
  }
  if (days <= kShortestRunDays) {
    verdict.advice = Advice::kPilot;
    verdict.reasons.push_back(
        fmt::format("a run of {:.1f} days, not above {:g}", days, kShortestRunDays));
  }
  if (to.outlook->prediction.outside.empty()) {
    verdict.reasons.push_back("within the planner's calibration");
  } else if (verdict.advice == Advice::kMove) {
    verdict.advice = Advice::kPilot;
    verdict.reasons.push_back("the prediction is outside the calibration: measure first");
  }
  verdict.reasons.push_back(
      fmt::format("${:.0f} saved per run, the ${:.0f} move paid back after {:.1f} runs",
                  move.saving_per_run, move.cost, move.break_even_runs));
  return verdict;
}

double Phase::cost(Tariff tariff) const {
  return node_price(*device, tariff).value * static_cast<double>(nodes) * 24 * days;
}

Phase parse_phase(const std::string& text, const Hardware& hardware) {
  const auto equals = text.find('='), days = text.rfind(':');
  const auto nodes = days == std::string::npos || days == 0 ? days : text.rfind(':', days - 1);
  Phase phase;
  if (equals != std::string::npos && equals > 0 && nodes != std::string::npos && equals < nodes &&
      nodes < days) {
    phase.name = text.substr(0, equals);
    phase.nodes = whole(text.substr(nodes + 1, days - nodes - 1));
    phase.days = number(text.substr(days + 1));
  }
  if (phase.nodes <= 0 || !(phase.days > 0)) {
    fail(ExitCode::kUsage, fmt::format("'{}' is not a phase", text),
         "name=hardware:nodes:days, e.g. research=g5.12xlarge:10:7");
  }
  phase.device = &hardware.node(text.substr(equals + 1, nodes - equals - 1));
  if (phase.device->price_per_node_hour.value <= 0)
    fail(ExitCode::kUsage, fmt::format("{} has no price", phase.device->name),
         "use a node that is for rent, such as p5.48xlarge, or add a price in a --hardware-file");
  return phase;
}

}  // namespace hum::plan

// Decides whether to move a training run from NVIDIA GPUs to another platform, by applying the
// thresholds of a field report on Trainium to the planner's predictions. Also budgets of a project
// in phases.
#pragma once

#include <string>
#include <vector>

#include "plan/compare.h"

namespace hum::plan {

// Below the first: stay; up to the second: a pilot; above: move. US dollars per month.
inline constexpr double kPilotBudget = 50e3, kMoveBudget = 200e3;
inline constexpr double kShortestProjectMonths = 3;  // below, the move is not paid back
inline constexpr double kShortestRunDays = 7;        // below, no more than a pilot

enum class Advice { kStay, kPilot, kMove };

inline EnumNames<Advice> enum_names(Advice) {
  static constexpr std::pair<Advice, std::string_view> kNames[] = {
      {Advice::kStay, "stay"}, {Advice::kPilot, "pilot"}, {Advice::kMove, "move"}};
  return kNames;
}

// Facts that the figures do not contain.
struct Situation {
  double monthly_budget = 0;  // US dollars; 0: on-demand cost of the current cluster
  double project_months = 0;  // 0: not limited
  bool custom_architecture = false;
  template <class V>
  void visit_fields(V& v) {
    v("monthly_budget", monthly_budget,
      "dollars a month for training (0: the first cluster's, on demand)");
    v("project_months", project_months, "how long the project lasts (0: no end)");
    v("custom_architecture", custom_architecture, "the model needs custom operators");
  }
};

// The situation's budget, or the on-demand cost of the current cluster. US dollars.
double monthly_budget(const Option& from, const Situation& situation);

struct Verdict {
  Advice advice = Advice::kStay;
  std::vector<std::string> reasons;  // for this advice, the deciding one first
};

// Decides on moving the run. Both options must fit. Throws kUsage on figures below zero.
Verdict decide(const Option& from, const Option& to, const Market& market,
               const Situation& situation);

// A phase of a project with its own cluster.
struct Phase {
  std::string name;  // "research"
  const Device* device = nullptr;
  int64_t nodes = 0;
  double days = 0;
  // US dollars; 0 if the tariff is not sold.
  double cost(Tariff tariff) const;
};

// Parses "research=g5.12xlarge:10:7": name, hardware, nodes, days. Throws kUsage.
Phase parse_phase(const std::string& text, const Hardware& hardware);

}  // namespace hum::plan

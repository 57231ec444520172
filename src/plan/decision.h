// Whether to move a training run from NVIDIA GPUs to another platform: the thresholds of a field
// report on Trainium, applied to what the planner predicts. Budgets of a project in phases.
#pragma once

#include <string>
#include <vector>

#include "plan/compare.h"

namespace hum::plan {

// Below the first: stay. From there to the second: a pilot. Above: move. US dollars a month.
inline constexpr double kPilotBudget = 50e3, kMoveBudget = 200e3;
inline constexpr double kShortestProjectMonths = 3;  // below, the move is not paid back
inline constexpr double kShortestRunDays = 7;        // below, no more than a pilot

enum class Advice { kStay, kPilot, kMove };

inline EnumNames<Advice> enum_names(Advice) {
  static constexpr std::pair<Advice, std::string_view> kNames[] = {
      {Advice::kStay, "stay"}, {Advice::kPilot, "pilot"}, {Advice::kMove, "move"}};
  return kNames;
}

// What the figures do not say.
struct Situation {
  double monthly_budget = 0;  // US dollars; 0: what the cluster where one is costs on demand
  double project_months = 0;  // 0: not limited
  bool custom_architecture = false;
  template <class V>
  void visit_fields(V& v) {
    v("monthly_budget", monthly_budget,
      "dollars a month for training (0: the first cluster's, on demand)");
    v("project_months", project_months, "how long the project lasts (0: no end)");
    v("custom_architecture", custom_architecture, "the model needs operators of its own");
  }
};

// The situation's, or what the cluster where one is costs on demand. US dollars.
double monthly_budget(const Option& from, const Situation& situation);

struct Verdict {
  Advice advice = Advice::kStay;
  std::vector<std::string> reasons;  // of this advice, the deciding one first
};

// Of moving the run. Both options must fit. Throws kBadData on figures below zero.
Verdict decide(const Option& from, const Option& to, const Market& market,
               const Situation& situation);

// A part of a project on a cluster of its own.
struct Phase {
  std::string name;  // "research"
  const Device* device = nullptr;
  int64_t nodes = 0;
  double days = 0;
  // US dollars; 0 where the tariff is not sold.
  double cost(Tariff tariff) const;
};

// "research=g5.12xlarge:10:7": name, hardware, nodes, days. Throws kUsage, kConfig on unknown
// hardware.
Phase parse_phase(const std::string& text, const Hardware& hardware);

}  // namespace hum::plan

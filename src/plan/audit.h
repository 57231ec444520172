// Does a plan agree with itself, with arithmetic, and with what the vendor of its hardware states?
// Every rule compares a figure of the plan with one that follows from its others.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/claims.h"
#include "plan/hardware.h"

namespace hum::plan {

// A figure and what it is of: {128, "dp 16 x tp 8"}.
struct Side {
  double value = 0;
  std::string text;
};

// One comparison.
struct Check {
  std::string rule;
  std::string subject;  // "run trainium"
  bool agrees = false;
  Side stated, found;               // the plan's figure, and the one beside it
  std::vector<std::string> places;  // of the figures that take part
  std::string remedy;               // what would agree; empty where nothing better is known
};

struct Rule {
  std::string_view name, what;
};

// In the order of their checks.
std::span<const Rule> rules();

// The checks of all rules that find their figures in the plan. Hardware that `hardware` does not
// know is left unchecked.
std::vector<Check> audit(const PlanClaims& claims, const Hardware& hardware);

// 566323 -> "566,323", 1.4286 -> "1.429".
std::string figure_text(double value);

}  // namespace hum::plan

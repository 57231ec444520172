// Checks whether a plan is consistent with itself, with arithmetic, and with the vendor's figures
// for its hardware. Every rule compares a figure of the plan with one derived from the others.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/claims.h"
#include "plan/hardware.h"

namespace hum::plan {

// A figure and its description: {128, "dp 16 x tp 8"}.
struct Side {
  double value = 0;
  std::string text;
};

// One comparison.
struct Check {
  std::string rule;
  std::string subject;  // "run trainium"
  bool agrees = false;
  Side stated, found;               // the plan's figure, and the one it is compared with
  std::vector<std::string> places;  // of the figures used
  std::string remedy;               // a value that would agree; empty if none is known
};

struct Rule {
  std::string_view name, what;
};

// In the order of their checks.
std::span<const Rule> rules();

// The checks of all rules whose figures are in the plan. Hardware not listed in `hardware` is not
// checked.
std::vector<Check> audit(const PlanClaims& claims, const Hardware& hardware);

// 566323 -> "566,323", 1.4286 -> "1.429".
std::string figure_text(double value);

}  // namespace hum::plan

// The report of `hum evaluate listening`: what listeners answered in the listening test of a model
// report, as means and intervals by system.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace hum::app {

// {"test", "listeners": [{"listener", "file", "trials", "low_references", "excluded"}],
//  "systems": [{"system", "scores", "mean", "low", "high", "median"}]}
// The best system is first. "low" and "high" are null with fewer than two scores. Throws: what
// eval::read_answers and eval::require_one_test throw.
Json listening_report(const std::vector<std::string>& files);
std::string listening_text(const Json& report);

}  // namespace hum::app

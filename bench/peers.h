// Programs that do the same work, run in turn and compared by medians.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace hum::bench {

// bench/peers/SCRIPT with the interpreter that bench/peers/install.sh put into build/FOLDER.
std::vector<std::string> peer_command(const std::string& script,
                                      const std::string& folder = "peers");

double median(std::vector<double> values);

struct Contender {
  std::string name;
  // Runs once and gives the JSON object of the program's last line.
  std::function<Json()> run;
};

// Every contender `rounds` times, in turn. Result: by name, one JSON object a round.
std::map<std::string, std::vector<Json>> alternate(const std::vector<Contender>& contenders,
                                                   int rounds);

// Training steps as contenders. All steps of the first round are compared by their losses; the
// other rounds only take the time. The first steps compile and fill caches.
inline constexpr int kLossSteps = 20, kTimedSteps = 6, kWarmUpSteps = 2;
Contender step_contender(const std::string& name, std::function<Json(int steps)> run);

// Milliseconds of a step: the median of the rounds' medians.
double step_ms(const std::vector<Json>& rounds);

// Largest relative distance of two runs' losses, and that of the last step.
struct Distance {
  double worst = 0, last = 0;
};
Distance loss_distance(const Json& ours, const Json& theirs);

// The last line of a program's output as JSON. Throws: kFailure when it is none.
Json last_line_json(const std::string& out);

}  // namespace hum::bench

// Programs that do the same work, run in turn and compared by medians.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "bench/scale.h"

namespace hum::bench {

// The folder of most peers in the build folder.
inline constexpr const char* kPeers = "peers";

// bench/peers/SCRIPT with the interpreter that bench/peers/install.sh put into build/FOLDER.
std::vector<std::string> peer_command(const std::string& script,
                                      const std::string& folder = kPeers);

double median(std::vector<double> values);

struct Contender {
  std::string name;
  // Runs once and gives the JSON object of the program's last line.
  std::function<Json()> run;
  // The folder of bench/peers/install.sh that it needs; empty: it is hum.
  std::string peer = {};
};

// By contender's name, one JSON object a round.
using Rounds = std::map<std::string, std::vector<Json>>;

// Every contender scale.rounds times, in turn. In the smoke form those whose peer is not installed
// are left out.
Rounds alternate(const std::vector<Contender>& contenders, const Scale& scale);
bool is_installed(const std::string& peer);

// Training steps as contenders. All steps of the first round are compared by their losses; the
// other rounds only take the time.
Contender step_contender(const std::string& name, const Scale& scale,
                         std::function<Json(int steps)> run, const std::string& peer = {});

// Milliseconds of a step: the median of the rounds' medians.
double step_ms(const std::vector<Json>& rounds, const Scale& scale);

// Largest relative distance of two runs' losses, and that of the last step.
struct Distance {
  double worst = 0, last = 0;
};
Distance loss_distance(const Json& ours, const Json& theirs);

// The last line of a program's output as JSON. Throws: kFailure when it is none.
Json last_line_json(const std::string& out);

}  // namespace hum::bench

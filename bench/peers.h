// Runs programs that do the same work in turn, and compares them by medians.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/quantile.h"
#include "bench/scale.h"
#include "eval/harness/bar.h"

namespace hum::bench {

// The peers' folders in the build folder (bench/peers/install.sh).
inline constexpr const char *kPeers = "peers", *kPeersNotes = "peers-notes",
                            *kPeersPitch = "peers-pitch", *kPeersJudges = "peers-judges";

bool is_installed(const std::string& peer);

// One way to do the work.
struct Contender {
  std::string side;     // "hum" or a peer's name
  std::string setting;  // how it is run, if a side has several settings
  // Runs once and returns the JSON object of the program's last line; its "milliseconds" are the
  // times of the runs or steps within.
  std::function<Json()> run;
  // The folder of bench/peers/install.sh that it needs; empty for hum.
  std::string peer = {};
};

// Results of a contender's rounds.
struct Outcome {
  std::string side, setting;
  std::vector<Json> rounds;
  double ms = 0;  // the median of the rounds' medians

  std::string name() const { return setting.empty() ? side : side + ", " + setting; }
};

// Runs every contender scale.rounds times, in turn. A setting that is over a tenth slower than the
// fastest of its side in the first round is not run again. `warm_up` leading milliseconds of a
// round do not count. The smoke form runs only the first setting of each side, and skips sides that
// are not installed.
std::vector<Outcome> alternate(std::vector<Contender> contenders, const Scale& scale,
                               int warm_up = 0);

// The side's fastest setting, which is compared; null if the side was skipped.
const Outcome* fastest(const std::vector<Outcome>& outcomes, std::string_view side);

// Adds every contender's time and number of rounds to the bar, and prints a table to stderr. more:
// additional figures of a contender.
void report(eval::Bar& bar, const std::vector<Outcome>& outcomes,
            const std::function<Json(const Outcome&)>& more = {});

// Training steps as contenders. The steps of the first round are compared by their losses; the
// other rounds only measure time.
Contender step_contender(const std::string& side, const std::string& setting,
                         std::function<Json(int steps)> run, int first_steps, const Scale& scale,
                         const std::string& peer = {});

// Largest relative difference of two runs' losses over their common steps, and that of the last of
// these steps.
struct Distance {
  double worst = 0, last = 0;
};
Distance loss_distance(const Json& ours, const Json& theirs);

// Parses the last line of a program's output as JSON. Throws: kFailure if it is not JSON.
Json last_line_json(const std::string& out);

}  // namespace hum::bench

#include "bench/peers.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace hum::bench {

std::vector<std::string> peer_command(const std::string& script, const std::string& folder) {
  return {HUM_PEERS_BUILD "/" + folder + "/bin/python", HUM_PEERS "/" + script};
}

double median(std::vector<double> values) {
  HUM_CHECK(!values.empty());
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Json last_line_json(const std::string& out) {
  const size_t end = out.find_last_not_of('\n') + 1;
  const size_t before = end == 0 ? std::string::npos : out.rfind('\n', end - 1);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  try {
    return Json::parse(out.substr(begin, end - begin));
  } catch (const Json::parse_error&) {
    fail(ExitCode::kFailure, "not JSON: " + out.substr(begin, end - begin));
  }
}

bool is_installed(const std::string& peer) {
  return std::filesystem::exists(HUM_PEERS_BUILD "/" + peer + "/installed.txt");
}

Rounds alternate(const std::vector<Contender>& contenders, const Scale& scale) {
  Rounds results;
  for (int round = 0; round < scale.rounds; ++round) {
    for (const auto& contender : contenders) {
      if (scale.smoke && !contender.peer.empty() && !is_installed(contender.peer)) {
        spdlog::info("{}: {} is not installed", contender.name, contender.peer);
        continue;
      }
      spdlog::info("round {} of {}: {}", round + 1, scale.rounds, contender.name);
      results[contender.name].push_back(contender.run());
    }
  }
  return results;
}

Contender step_contender(const std::string& name, const Scale& scale, std::function<Json(int)> run,
                         const std::string& peer) {
  return {name,
          [scale, run = std::move(run), first = true]() mutable {
            return run(std::exchange(first, false) ? scale.loss_steps : scale.timed_steps);
          },
          peer};
}

double step_ms(const std::vector<Json>& rounds, const Scale& scale) {
  std::vector<double> medians;
  for (const Json& round : rounds) {
    const auto all = round["milliseconds"].get<std::vector<double>>();
    medians.push_back(median({all.begin() + scale.warm_up_steps, all.end()}));
  }
  return median(medians);
}

Distance loss_distance(const Json& ours, const Json& theirs) {
  const auto a = ours["losses"].get<std::vector<double>>();
  const auto b = theirs["losses"].get<std::vector<double>>();
  HUM_CHECK(!a.empty() && a.size() == b.size());
  Distance distance;
  for (size_t i = 0; i < a.size(); ++i) {
    distance.last = std::abs(a[i] - b[i]) / std::abs(b[i]);
    distance.worst = std::max(distance.worst, distance.last);
  }
  return distance;
}

}  // namespace hum::bench

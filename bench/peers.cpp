#include "bench/peers.h"

#include <algorithm>

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

std::map<std::string, std::vector<Json>> alternate(const std::vector<Contender>& contenders,
                                                   int rounds) {
  std::map<std::string, std::vector<Json>> results;
  for (int round = 0; round < rounds; ++round) {
    for (const auto& contender : contenders) {
      spdlog::info("round {} of {}: {}", round + 1, rounds, contender.name);
      results[contender.name].push_back(contender.run());
    }
  }
  return results;
}

}  // namespace hum::bench

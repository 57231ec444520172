#include "bench/peers.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "bench/locations.h"

namespace hum::bench {
namespace {

// A setting slower than this, relative to its side's fastest, runs in the first round only.
constexpr double kMuchSlower = 1.1;

double median_ms(const std::vector<Json>& rounds, int warm_up) {
  std::vector<double> medians;
  for (const Json& round : rounds) {
    const auto all = round.at("milliseconds").get<std::vector<double>>();
    HUM_CHECK(std::ssize(all) > warm_up);
    medians.push_back(median({all.begin() + warm_up, all.end()}));
  }
  return median(medians);
}

// The first runnable setting of each side.
std::vector<Contender> for_smoke(const std::vector<Contender>& contenders) {
  std::vector<Contender> kept;
  for (const Contender& contender : contenders) {
    if (std::ranges::find(kept, contender.side, &Contender::side) != kept.end()) continue;
    if (contender.peer.empty() || is_installed(contender.peer)) {
      kept.push_back(contender);
    } else {
      spdlog::info("{}: {} is not installed", contender.side, contender.peer);
    }
  }
  return kept;
}

}  // namespace

Json last_line_json(const std::string& out) {
  const size_t end = out.find_last_not_of('\n') + 1;
  const size_t before = end == 0 ? std::string::npos : out.rfind('\n', end - 1);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  try {
    return parse_json(out.substr(begin, end - begin));
  } catch (const Json::parse_error&) {
    fail(ExitCode::kFailure, "last line is not JSON: " + out.substr(begin, end - begin));
  }
}

bool is_installed(const std::string& peer) {
  return std::filesystem::exists(fmt::format("{}/{}/installed.txt", kBuildFolder, peer));
}

std::vector<Outcome> alternate(std::vector<Contender> contenders, const Scale& scale, int warm_up) {
  if (scale.smoke) contenders = for_smoke(contenders);
  std::vector<Outcome> outcomes;
  for (const auto& contender : contenders) outcomes.push_back({contender.side, contender.setting});
  std::vector<bool> slow(contenders.size(), false);
  for (int round = 0; round < scale.rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (slow[i]) continue;
      Outcome& outcome = outcomes[i];
      spdlog::info("round {} of {}: {}", round + 1, scale.rounds, outcome.name());
      outcome.rounds.push_back(contenders[i].run());
      outcome.ms = median_ms(outcome.rounds, warm_up);
    }
    for (size_t i = 0; round == 0 && i < contenders.size(); ++i) {
      slow[i] = outcomes[i].ms > kMuchSlower * fastest(outcomes, outcomes[i].side)->ms;
    }
  }
  return outcomes;
}

const Outcome* fastest(const std::vector<Outcome>& outcomes, std::string_view side) {
  const Outcome* best = nullptr;
  for (const Outcome& outcome : outcomes) {
    if (outcome.side == side && (best == nullptr || outcome.ms < best->ms)) best = &outcome;
  }
  return best;
}

void report(eval::Bar& bar, const std::vector<Outcome>& outcomes,
            const std::function<Json(const Outcome&)>& more) {
  eval::TextTable table({"", "ms", "rounds"});
  for (const Outcome& outcome : outcomes) {
    Json figures = {{"ms", outcome.ms}, {"rounds", outcome.rounds.size()}};
    if (more) figures.update(more(outcome));
    (outcome.side == "hum" ? bar.ours : bar.peer)[outcome.name()] = std::move(figures);
    table.row(
        {outcome.name(), fmt::format("{:.1f}", outcome.ms), std::to_string(outcome.rounds.size())});
  }
  std::cerr << table.text();
}

Contender step_contender(const std::string& side, const std::string& setting,
                         std::function<Json(int)> run, int first_steps, const Scale& scale,
                         const std::string& peer) {
  return {side, setting,
          [run = std::move(run), steps = first_steps, later = scale.timed_steps]() mutable {
            return run(std::exchange(steps, later));
          },
          peer};
}

Distance loss_distance(const Json& ours, const Json& theirs) {
  const auto a = ours.at("losses").get<std::vector<double>>();
  const auto b = theirs.at("losses").get<std::vector<double>>();
  Distance distance;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    distance.last = std::abs(a[i] - b[i]) / std::abs(b[i]);
    distance.worst = std::max(distance.worst, distance.last);
  }
  return distance;
}

}  // namespace hum::bench

#include "bench/torch_bar.h"

#include <algorithm>

#include "base/error.h"
#include "bench/peer_settings.h"
#include "bench/peers.h"

namespace hum::bench {
namespace {

constexpr const char *kHum = "hum", *kTorch = "PyTorch";

std::vector<Contender> contenders(const TorchBar& bar, const Scale& scale) {
  std::vector<Contender> all;
  for (const HumSteps& steps : bar.hum) {
    all.push_back(step_contender(
        kHum, steps.setting.empty() ? bar.dtype : fmt::format("{}, {}", bar.dtype, steps.setting),
        steps.run, scale.loss_steps, scale));
  }
  int first_steps = scale.loss_steps;
  for (const PeerSetting& setting : torch_settings(bar.dtype)) {
    all.push_back(step_contender(
        kTorch, setting.name,
        [&bar, setting](int steps) {
          return run_peer(bar.script, {bar.problem, "--steps", std::to_string(steps)}, setting);
        },
        setting.slow ? scale.warm_up_steps + 1 : first_steps, scale, kPeers));
    first_steps = scale.timed_steps;
  }
  return all;
}

// The largest distance of any of PyTorch's losses from those of its first setting.
double settings_distance(const std::vector<Outcome>& outcomes, const Outcome& first) {
  double worst = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.side != kTorch) continue;
    worst = std::max(worst, loss_distance(outcome.rounds[0], first.rounds[0]).worst);
  }
  return worst;
}

}  // namespace

eval::Bar against_torch(const TorchBar& bar, const Scale& scale) {
  const auto outcomes = alternate(contenders(bar, scale), scale, scale.warm_up_steps);
  const Outcome& ours = *fastest(outcomes, kHum);
  eval::Bar result{.name = bar.name,
                   .unit = "x PyTorch's fastest setting",
                   .bar = fmt::format(">= {} x, loss after 20 steps within {} of PyTorch's",
                                      bar.limit, bar.loss_limit)};
  report(result, outcomes, [&](const Outcome& outcome) {
    const Json& losses = outcome.rounds[0].at("losses");
    Json figures = {{"loss", losses.back()}, {"steps_to_loss", losses.size()}};
    if (bar.gigaflops > 0) figures["gflops"] = bar.gigaflops / outcome.ms * 1e3;
    return figures;
  });
  const Outcome* best = fastest(outcomes, kTorch);
  if (best == nullptr) return result;
  result.value = best->ms / ours.ms;
  const Outcome& first = *std::ranges::find(outcomes, kTorch, &Outcome::side);
  const Distance distance = loss_distance(ours.rounds[0], first.rounds[0]);
  result.checks.at_least("speed", best->ms / ours.ms, bar.limit);
  result.checks.at_most("loss_distance", distance.last, bar.loss_limit);
  result.ours["worst_loss_distance"] = distance.worst;
  result.checks.at_most("settings_loss_distance", settings_distance(outcomes, first),
                        bar.loss_limit);
  if (bar.hum.size() > 1) result.ours["fastest"] = ours.name();
  result.peer["fastest"] = best->name();
  result.peer["version"] = best->rounds[0].at("version");
  return result;
}

}  // namespace hum::bench

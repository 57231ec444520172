#include "plan/compare.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "plan/search.h"

namespace hum::plan {

namespace {

// A synchronous run stops if any of its devices fails and, on spot, if any node is reclaimed.
Interruptions interruptions(const Option& option, Tariff tariff, const Market& market,
                            const Shift& shift) {
  const double failures_per_s =
      static_cast<double>(option.devices()) / (market.run.device_mtbf_hours * 3600);
  const double taken_per_s = tariff != Tariff::kSpot
                                 ? 0
                                 : static_cast<double>(option.nodes) *
                                       option.device->spot_interruptions_per_node_hour.value / 3600;
  const double all_per_s = failures_per_s + taken_per_s;
  const double wait_s = 60 * market.spot_wait_minutes * taken_per_s / all_per_s;
  return {.checkpoint_s = option.outlook->checkpoint_s,
          .between_s = 1 / (all_per_s * shift.interruptions),
          .restart_s = 60 * market.run.restart_minutes + wait_s};
}

}  // namespace

const Figure& node_price(const Device& device, Tariff tariff) {
  switch (tariff) {
    case Tariff::kReserved:
      return device.reserved_per_node_hour;
    case Tariff::kSpot:
      return device.spot_per_node_hour;
    case Tariff::kOnDemand:
      break;
  }
  return device.price_per_node_hour;
}

Option consider(const Transformer& model, const Device& device, int64_t nodes,
                const Calibration& calibration, const Market& market) {
  require_positive("nodes", static_cast<double>(nodes));
  require_positive("batch", static_cast<double>(market.global_batch));
  require_positive("tokens", market.run.tokens);
  require_positive("spot_wait_minutes", market.spot_wait_minutes);
  require_positive("engineer_week_cost", market.engineer_week_cost);
  if (device.price_per_node_hour.value <= 0) {
    fail(ExitCode::kUsage, fmt::format("{} has no on-demand price", device.name),
         "use a node that is for rent, such as p4d.24xlarge, or set price_per_node_hour in a file "
         "for --hardware-file");
  }
  Option option{.device = &device, .nodes = nodes};
  const Layout like = usual_layout(device.stack, market.global_batch);
  const auto found = search_if_any(model, like, option.devices(), device, calibration.efficiency);
  if (found.fitting.empty()) {
    option.least_bytes = found.least_bytes;
    option.nodes_needed = nearest_nodes(model, like, device, nodes).value_or(0);
    return option;
  }
  option.outlook = look_ahead(model, found.fitting.front().layout, device, calibration, market.run);
  for (const Tariff tariff : {Tariff::kOnDemand, Tariff::kReserved, Tariff::kSpot}) {
    if (const auto sold = offer(option, tariff, market)) option.offers.push_back(*sold);
  }
  return option;
}

std::string enough_nodes(const Option& option) {
  switch (option.nodes_needed) {
    case 0:
      return "no number of nodes is enough";
    case 1:
      return "1 node is enough";
    default:
      return fmt::format("{} nodes are enough", option.nodes_needed);
  }
}

std::optional<Offer> offer(const Option& option, Tariff tariff, const Market& market,
                           const Shift& shift) {
  HUM_REQUIRE(option.outlook.has_value(), "no offer for {}: the model does not fit",
              option.device->name);
  const double node_hour = node_price(*option.device, tariff).value * shift.price;
  if (node_hour <= 0) return std::nullopt;
  const Interruptions breaks = interruptions(option, tariff, market, shift);
  const double step_s = option.outlook->prediction.time.total() / shift.speed;
  const RunCost cost = run_cost(breaks, step_s, option.outlook->tokens_per_s * shift.speed,
                                static_cast<double>(option.nodes) * node_hour, market.run.tokens);
  return Offer{cost, tariff, node_hour, 86400 / breaks.between_s};
}

std::vector<Swing> sensitivity(const Option& option, Tariff tariff, const Market& market,
                               double spread) {
  if (!(spread > 0 && spread < 1))
    fail(ExitCode::kUsage, fmt::format("spread = {} is out of range", spread),
         "between 0 and 1, e.g. 0.2");
  if (!offer(option, tariff, market)) return {};
  const double less = 1 - spread, more = 1 + spread;
  const auto cost = [&](const Shift& shift) { return offer(option, tariff, market, shift)->cost; };
  return {{"price", cost({.price = less}), cost({.price = more})},
          {"efficiency", cost({.speed = less}), cost({.speed = more})},
          {"interruptions", cost({.interruptions = less}), cost({.interruptions = more})}};
}

Migration migrate(const Option& from, const Option& to, const Market& market) {
  Migration result;
  if (from.device->platform != to.device->platform) {
    result.weeks = to.device->migration_weeks.value;
    result.cost = result.weeks * market.engineer_week_cost;
  }
  result.saving_per_run = from.on_demand().cost - to.on_demand().cost;
  if (result.saving_per_run > 0) {
    result.break_even_runs = result.cost / result.saving_per_run;
  } else if (result.saving_per_run < 0 || result.cost > 0) {
    result.break_even_runs = std::numeric_limits<double>::infinity();
  }
  return result;
}

}  // namespace hum::plan

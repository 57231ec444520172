// Compares clusters for one training run: what each needs on demand, reserved and on spot, when
// moving to another platform pays off, and how results change if a figure is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/outlook.h"

namespace hum::plan {

enum class Tariff { kOnDemand, kReserved, kSpot };

inline EnumNames<Tariff> enum_names(Tariff) {
  static constexpr std::pair<Tariff, std::string_view> kNames[] = {
      {Tariff::kOnDemand, "on-demand"}, {Tariff::kReserved, "reserved"}, {Tariff::kSpot, "spot"}};
  return kNames;
}

// Price per node in US dollars per hour; value 0 if the tariff is not sold.
const Figure& node_price(const Device& device, Tariff tariff);

// The run's goal, and costs besides the cluster.
struct Market {
  Goal run;                          // tokens must be set
  int64_t global_batch = 1024;       // sequences per step
  double spot_wait_minutes = 10;     // until a reclaimed node is replaced
  double engineer_week_cost = 6667;  // US dollars
};

// Factors on the least certain figures.
struct Shift {
  double price = 1, speed = 1, interruptions = 1;
};

// A run under one tariff. Money: US dollars.
struct Offer : RunCost {
  Tariff tariff = Tariff::kOnDemand;
  double node_hour = 0;
  double interruptions_per_day = 0;  // of the whole cluster, including failures
};

struct Option {
  const Device* device = nullptr;
  int64_t nodes = 0;
  std::optional<Outlook> outlook;  // of the fastest layout that fits; empty if none fits
  // Bytes per device needed if no layout fits; 0: no layout divides model, batch and devices.
  double least_bytes = 0;
  int64_t nodes_needed = 0;   // nearest number of nodes that it fits into, if it does not; 0: none
  std::vector<Offer> offers;  // on demand first, then the other tariffs sold
  int64_t devices() const { return nodes * static_cast<int64_t>(device->devices_per_node.value); }
  const Offer& on_demand() const { return offers.front(); }  // of an option that fits
};

// "4 nodes are enough", or that no number is, for an option where nothing fits.
std::string enough_nodes(const Option& option);

// Throws kUsage if a figure of the market is not above zero, or the hardware has no price.
// price.
Option consider(const Transformer& model, const Device& device, int64_t nodes,
                const Calibration& calibration, const Market& market);

// Returns nullopt if the tariff is not sold. The option must fit.
std::optional<Offer> offer(const Option& option, Tariff tariff, const Market& market,
                           const Shift& shift = {});

// Cost of the run with one figure multiplied by 1 - spread and by 1 + spread.
struct Swing {
  std::string what;  // "price", "efficiency", "interruptions"
  double less = 0, more = 0;
};
// Empty if the tariff is not sold. Throws kUsage unless 0 < spread < 1.
std::vector<Swing> sensitivity(const Option& option, Tariff tariff, const Market& market,
                               double spread);

// A move from the current option to another; empty between hardware of one platform.
struct Migration {
  double weeks = 0, cost = 0;  // of one engineer; US dollars
  double saving_per_run = 0;   // on demand; below 0: the other costs more
  // Runs until the savings pay for the move; 0: nothing to pay, and no loss; infinite: never.
  double break_even_runs = 0;
};
Migration migrate(const Option& from, const Option& to, const Market& market);

}  // namespace hum::plan

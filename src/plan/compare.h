// Clusters side by side for one training run: what each takes on demand, reserved and on spot,
// when moving to another platform pays, and what changes if a figure is wrong.
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

// A node's, in US dollars an hour; value 0 where the tariff is not sold.
const Figure& node_price(const Device& device, Tariff tariff);

// What the run is, and what is paid beside the cluster.
struct Market {
  Goal run;                          // tokens must be asked
  int64_t global_batch = 1024;       // sequences a step
  double spot_wait_minutes = 10;     // until a node that was taken back is replaced
  double engineer_week_cost = 6667;  // US dollars
};

// Factors on the figures that are least certain.
struct Shift {
  double price = 1, speed = 1, interruptions = 1;
};

// A run under one tariff. Money: US dollars.
struct Offer : RunCost {
  Tariff tariff = Tariff::kOnDemand;
  double node_hour = 0;
  double interruptions_per_day = 0;  // of the whole cluster, failures included
};

struct Option {
  const Device* device = nullptr;
  int64_t nodes = 0;
  std::optional<Outlook> outlook;  // of the fastest layout that fits; none: the model fits nowhere
  // That a device would need, where it fits nowhere; 0: no layout divides model, batch and devices.
  double least_bytes = 0;
  int64_t nodes_needed = 0;   // the nearest number that it fits into, where it does not; 0: none
  std::vector<Offer> offers;  // on demand first, then what else is sold
  int64_t devices() const { return nodes * static_cast<int64_t>(device->devices_per_node.value); }
  const Offer& on_demand() const { return offers.front(); }  // of an option that fits
};

// "4 nodes are enough", or that no number is: of an option that fits nowhere.
std::string enough_nodes(const Option& option);

// Throws kBadData when a figure of the market is not above zero, and when the hardware has no
// price.
Option consider(const Transformer& model, const Device& device, int64_t nodes,
                const Calibration& calibration, const Market& market);

// nullopt where the tariff is not sold. The option must fit.
std::optional<Offer> offer(const Option& option, Tariff tariff, const Market& market,
                           const Shift& shift = {});

// Cost of the run with one figure at 1 - spread and at 1 + spread of what it is taken to be.
struct Swing {
  std::string what;  // "price", "efficiency", "interruptions"
  double less = 0, more = 0;
};
// Empty where the tariff is not sold. Throws kBadData unless 0 < spread < 1.
std::vector<Swing> sensitivity(const Option& option, Tariff tariff, const Market& market,
                               double spread);

// From the option where one is to another: nothing between hardware of one platform.
struct Migration {
  double weeks = 0, cost = 0;  // of one engineer; US dollars
  double saving_per_run = 0;   // on demand; below 0: the other is dearer
  // Runs until the saving has paid for it; 0: nothing to pay, and no loss; infinite: never.
  double break_even_runs = 0;
};
Migration migrate(const Option& from, const Option& to, const Market& market);

}  // namespace hum::plan

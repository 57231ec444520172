// hum plan compare: clusters side by side for one training run.
#include <iostream>
#include <map>
#include <optional>

#include "app/plan/compare.h"
#include "app/plan/outlook.h"
#include "app/plan/plot.h"
#include "app/plan/report.h"
#include "base/json.h"
#include "cli/commands/plan.h"
#include "plan/named_models.h"

namespace hum::cli {
namespace {

struct Args {
  std::vector<std::string> clusters, phases;
  std::vector<int64_t> nodes = {16};
  std::string model, plot, calibration, hardware_file;
  int64_t seq = 0;
  app::Comparison comparison;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v.positional("clusters", clusters,
                 "hardware:nodes or hardware, where one is now first (none: all with a price, "
                 "p4d.24xlarge first)",
                 false);
    v("model", model, "a name (" + plan::known_models() + ") or a Hugging Face config.json");
    v("nodes", nodes, "node counts of clusters that are given without one");
    v("seq", seq, "tokens a sequence (0: the model's longest)");
    plan::Market& market = comparison.market;
    v("batch", market.global_batch, "sequences a step");
    market.run.visit_fields(v);
    v("spot_wait_minutes", market.spot_wait_minutes, "until a node that was taken is replaced");
    v("engineer_week_cost", market.engineer_week_cost, "dollars, for migrations");
    comparison.situation.visit_fields(v);
    v("budget", comparison.budget, "dollars: how many tokens they buy (0: not asked)");
    v("tariff", comparison.tariff, "whose sensitivities are shown");
    v("spread", comparison.spread, "share by which each figure may be off in them");
    v("plot", plot, "a picture of the clusters (.svg): days and cost on demand");
    v("calibration", calibration,
      "a file of hum plan calibrate, for the clusters of its hardware (default: hum's own)");
    v("phase", phases, "name=hardware:nodes:days, once for each phase of a project");
    v("hardware_file", hardware_file, "figures of hardware (default: hardware/devices.yaml)");
    v("json", json, "print the comparison as JSON");
  }
};

std::vector<std::string> all_clusters(const plan::Hardware& hardware) {
  constexpr const char* kUsual = "p4d.24xlarge";
  std::vector<std::string> names;
  for (const auto& [name, device] : hardware.devices()) {
    if (device.price_per_node_hour.value > 0)
      names.insert(name == kUsual ? names.begin() : names.end(), name);
  }
  return names;
}

std::vector<app::Cluster> chosen_clusters(const Args& args, const plan::Hardware& hardware) {
  std::vector<app::Cluster> chosen;
  for (const auto& text : args.clusters.empty() ? all_clusters(hardware) : args.clusters) {
    if (text.find(':') != std::string::npos) {
      chosen.push_back(app::parse_cluster(text, hardware));
      continue;
    }
    for (const int64_t nodes : args.nodes)
      chosen.push_back(app::parse_cluster(fmt::format("{}:{}", text, nodes), hardware));
  }
  return chosen;
}

// By device: hum's own, or that of the file where it is of the device's hardware.
std::map<std::string, plan::Calibration> read_calibrations(const std::vector<app::Cluster>& clusters,
                                                           const std::string& file) {
  std::map<std::string, plan::Calibration> result;
  std::optional<plan::Calibration> given;
  if (!file.empty()) given = plan::read_calibration(file);
  bool used = false;
  for (const app::Cluster& cluster : clusters) {
    const plan::Device& device = *cluster.device;
    const bool is_given = given && device.may_use(given->device);
    used = used || is_given;
    if (!result.contains(device.name))
      result[device.name] = is_given ? *given : app::read_calibration_for(device, "");
  }
  if (given && !used) {
    fail(ExitCode::kUsage, fmt::format("{} is of {}, none of the clusters is", file, given->device),
         "name a cluster of it, or leave the calibration out");
  }
  return result;
}

int run(Args& args) {
  app::Comparison& c = args.comparison;
  if (args.model.empty() || c.market.run.tokens == 0) {
    fail(ExitCode::kUsage, "hum plan compare needs --model and --tokens",
         "hum plan compare --model llama-7b --tokens 1e12 p4d.24xlarge:16 trn1.32xlarge:16");
  }
  if (!args.plot.empty()) app::require_plot(args.plot);
  const plan::Hardware hardware = app::read_hardware(args.hardware_file);
  c.model = args.model;
  c.shape = plan::named_model(args.model);
  if (args.seq != 0) c.shape.sequence = args.seq;
  const auto clusters = chosen_clusters(args, hardware);
  const auto calibrations = read_calibrations(clusters, args.calibration);
  for (const app::Cluster& cluster : clusters) {
    c.options.push_back(plan::consider(c.shape, *cluster.device, cluster.nodes,
                                       calibrations.at(cluster.device->name), c.market));
  }
  for (const auto& text : args.phases) c.phases.push_back(plan::parse_phase(text, hardware));
  const Json report = app::comparison_report(c);
  if (!args.plot.empty()) app::write_clusters_plot(args.plot, report);
  if (args.json) {
    print_json(report);
  } else {
    std::cout << app::comparison_text(report);
  }
  return 0;
}

}  // namespace

const Command kPlanCompare = {
    "plan compare", "clusters side by side for a training run: time, money, migration",
    "hum plan compare --model llama-7b --tokens 1e12 p4d.24xlarge:16 trn1.32xlarge:16",
    make_command<Args, run>};

}  // namespace hum::cli

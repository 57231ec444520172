#include "app/plan/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "app/plan/cluster_outlook.h"
#include "app/plan/planner_files.h"
#include "app/plan/plot.h"
#include "base/error.h"
#include "base/json.h"
#include "plan/named_models.h"

namespace hum::app {

namespace {

constexpr plan::Tariff kTariffs[] = {plan::Tariff::kOnDemand, plan::Tariff::kReserved,
                                     plan::Tariff::kSpot};

std::string cluster_name(const plan::Option& option) {
  return fmt::format("{}:{}", option.device->name, option.nodes);
}

const plan::Option& baseline_of(const Comparison& c) {
  const auto fits = [](const plan::Option& option) { return option.outlook.has_value(); };
  const auto first = std::ranges::find_if(c.options, fits);
  if (first != c.options.end()) return *first;
  const plan::Option* nearest = nullptr;
  for (const auto& option : c.options) {
    if (option.nodes_needed == 0) continue;
    if (nearest == nullptr || option.nodes_needed < nearest->nodes_needed) nearest = &option;
  }
  fail(ExitCode::kUsage,
       fmt::format("{:.1f}B parameters do not fit on any of these clusters",
                   c.shape.parameters() / 1e9),
       nearest == nullptr
           ? fmt::format("no number of nodes is enough for a batch of {} sequences of {} tokens",
                         c.market.global_batch, c.shape.sequence)
           : fmt::format("{}:{} is enough", nearest->device->name, nearest->nodes_needed));
}

Json offer_report(const plan::Offer& offer, const plan::Prediction& prediction) {
  Json report = cost_report(offer, prediction);
  report.update({{"node_hour", offer.node_hour},
                 {"interruptions_per_day", offer.interruptions_per_day},
                 {"checkpoint_every_s", offer.checkpoint_every_s},
                 {"goodput", offer.goodput},
                 {"cost_per_million_tokens", offer.cost_per_million_tokens}});
  return report;
}

Json move_report(const plan::Option& from, const plan::Option& to, const Comparison& c) {
  const plan::Migration move = plan::migrate(from, to, c.market);
  Json report = {{"weeks", move.weeks},
                 {"cost", move.cost},
                 {"saving_per_run", move.saving_per_run},
                 {"break_even_runs", nullptr}};
  if (std::isfinite(move.break_even_runs)) report["break_even_runs"] = move.break_even_runs;
  return report;
}

Json fitting_report(const plan::Option& option, const plan::Option& baseline, const Comparison& c) {
  const plan::Outlook& o = *option.outlook;
  Json report = figures_report(o);
  report["recompute"] = to_name(o.prediction.layout.recompute);
  report["offers"] = Json::object();
  for (const auto& offer : option.offers)
    report["offers"][std::string(to_name(offer.tariff))] = offer_report(offer, o.prediction);
  if (c.budget > 0)
    report["tokens_for_budget"] = c.budget / option.on_demand().cost_per_million_tokens * 1e6;
  if (&option == &baseline) return report;
  report["migration"] = move_report(baseline, option, c);
  if (baseline.device->platform != "cuda" || option.device->platform == "cuda") return report;
  const plan::Verdict verdict = plan::decide(baseline, option, c.market, c.situation);
  report["verdict"] = {{"advice", to_name(verdict.advice)}, {"reasons", verdict.reasons}};
  return report;
}

Json cluster_report(const plan::Option& option, const plan::Option& baseline, const Comparison& c) {
  Json report = {{"cluster", cluster_name(option)},
                 {"devices", option.devices()},
                 {"fits", option.outlook.has_value()}};
  if (option.outlook) {
    report.update(fitting_report(option, baseline, c));
    return report;
  }
  const std::string why =
      option.least_bytes > 0 ? fmt::format("needs {:.1f} GB per device but has {:.1f}",
                                           option.least_bytes / 1e9, option.device->memory_gb.value)
                             : fmt::format("no layout divides a batch of {} over {} devices",
                                           c.market.global_batch, option.devices());
  report["why"] = why + "; " + plan::enough_nodes(option);
  return report;
}

// The cheapest cluster under the tariff, and those that become cheaper if one of its figures is
// off.
Json rivals_report(const Json& rows) {
  const auto cost = [](const Json& row) { return row["cost"].get<double>(); };
  const auto cheapest = std::min_element(
      rows.begin(), rows.end(), [&](const Json& a, const Json& b) { return cost(a) < cost(b); });
  double worst = 0;
  for (const auto& [what, swing] : (*cheapest)["swings"].items())
    worst = std::max({worst, swing["less"].get<double>(), swing["more"].get<double>()});
  Json rivals = Json::array();
  for (const auto& row : rows) {
    if (row["cluster"] != (*cheapest)["cluster"] && cost(row) < worst)
      rivals.push_back(row["cluster"]);
  }
  return {{"cheapest", (*cheapest)["cluster"]}, {"rivals", rivals}};
}

Json sensitivity_report(const Comparison& c) {
  Json rows = Json::array();
  for (const auto& option : c.options) {
    if (!option.outlook) continue;
    const auto swings = plan::sensitivity(option, c.tariff, c.market, c.spread);
    if (swings.empty()) continue;
    Json row = {{"cluster", cluster_name(option)},
                {"cost", plan::offer(option, c.tariff, c.market)->cost},
                {"swings", Json::object()}};
    for (const auto& swing : swings)
      row["swings"][swing.what] = {{"less", swing.less}, {"more", swing.more}};
    rows.push_back(row);
  }
  Json report = {{"tariff", to_name(c.tariff)}, {"spread", c.spread}, {"rows", rows}};
  if (!rows.empty()) report.update(rivals_report(rows));
  return report;
}

Json phases_report(const Comparison& c) {
  Json rows = Json::array(), total = Json::object();
  for (const auto& phase : c.phases) {
    Json row = {{"name", phase.name},
                {"cluster", fmt::format("{}:{}", phase.device->name, phase.nodes)},
                {"days", phase.days}};
    for (const plan::Tariff tariff : kTariffs) {
      const double cost = phase.cost(tariff);
      if (cost > 0) row[std::string(to_name(tariff))] = cost;
    }
    rows.push_back(row);
  }
  for (const plan::Tariff tariff : kTariffs) {
    double sum = 0;
    bool sold = true;
    for (const auto& phase : c.phases) {
      sum += phase.cost(tariff);
      sold = sold && phase.cost(tariff) > 0;
    }
    if (sold) total[std::string(to_name(tariff))] = sum;
  }
  return {{"rows", rows}, {"total", total}};
}

std::vector<std::string> all_clusters(const plan::Hardware& hardware) {
  constexpr const char* kUsual = "p4d.24xlarge";
  std::vector<std::string> names;
  for (const auto& [name, device] : hardware.devices()) {
    if (device.price_per_node_hour.value > 0)
      names.insert(name == kUsual ? names.begin() : names.end(), name);
  }
  return names;
}

std::vector<Cluster> chosen_clusters(const CompareOptions& options,
                                     const plan::Hardware& hardware) {
  std::vector<Cluster> chosen;
  for (const auto& text : options.clusters.empty() ? all_clusters(hardware) : options.clusters) {
    if (text.find(':') != std::string::npos) {
      chosen.push_back(parse_cluster(text, hardware));
      continue;
    }
    for (const int64_t nodes : options.nodes)
      chosen.push_back(parse_cluster(fmt::format("{}:{}", text, nodes), hardware));
  }
  return chosen;
}

// The calibration of each device: the file's if it is for that hardware, else hum's own.
std::map<std::string, plan::Calibration> read_calibrations(const std::vector<Cluster>& clusters,
                                                           const std::string& file) {
  std::map<std::string, plan::Calibration> result;
  std::optional<plan::Calibration> given;
  if (!file.empty()) given = plan::read_calibration(file);
  bool used = false;
  for (const Cluster& cluster : clusters) {
    const plan::Device& device = *cluster.device;
    const bool is_given = given && device.may_use(given->device);
    used = used || is_given;
    if (!result.contains(device.name))
      result[device.name] = is_given ? *given : read_calibration_for(device, "");
  }
  if (given && !used) {
    fail(ExitCode::kUsage,
         fmt::format("{} is for {}, but none of the clusters is", file, given->device),
         "add a cluster of that hardware, or leave the calibration out");
  }
  return result;
}

}  // namespace

Json figures_report(const plan::Outlook& outlook) {
  const plan::Prediction& prediction = outlook.prediction;
  const plan::Layout& layout = prediction.layout;
  return {{"tp", layout.tp},
          {"pp", layout.pp},
          {"dp", layout.dp},
          {"micro_batch", layout.micro_batch},
          {"step_s", prediction.time.total()},
          {"low_s", prediction.low_s},
          {"high_s", prediction.high_s},
          {"outside", prediction.outside},
          {"tokens_per_s", outlook.tokens_per_s},
          {"mfu", outlook.mfu}};
}

Json cost_report(const plan::Offer& offer, const plan::Prediction& prediction) {
  const double step_s = prediction.time.total();
  return {{"days", offer.days},
          {"cost", offer.cost},
          {"cost_low", offer.cost * prediction.low_s / step_s},
          {"cost_high", offer.cost * prediction.high_s / step_s}};
}

Json comparison_report(const Comparison& c) {
  if (!(c.budget >= 0) || !std::isfinite(c.budget))
    fail(ExitCode::kUsage, fmt::format("a budget of ${} is out of range", c.budget),
         "use 0 or more dollars");
  const plan::Option& baseline = baseline_of(c);
  Json report = {{"model", c.model},
                 {"parameters", c.shape.parameters()},
                 {"sequence", c.shape.sequence},
                 {"tokens", c.market.run.tokens},
                 {"global_batch", c.market.global_batch},
                 {"interval_probability", plan::kIntervalProbability},
                 {"baseline", cluster_name(baseline)},
                 {"clusters", Json::array()},
                 {"sensitivity", sensitivity_report(c)}};
  if (c.budget > 0) report["budget"] = c.budget;
  for (const auto& option : c.options)
    report["clusters"].push_back(cluster_report(option, baseline, c));
  if (!c.phases.empty()) report["phases"] = phases_report(c);
  return report;
}

Json compare_clusters(const CompareOptions& options) {
  if (!options.plot.empty()) require_plot(options.plot);
  const plan::Hardware hardware = read_hardware(options.hardware_file);
  Comparison c = options.comparison;
  c.shape = with_sequence(plan::named_model(c.model), options.seq);
  const auto clusters = chosen_clusters(options, hardware);
  const auto calibrations = read_calibrations(clusters, options.calibration);
  for (const Cluster& cluster : clusters) {
    c.options.push_back(plan::consider(c.shape, *cluster.device, cluster.nodes,
                                       calibrations.at(cluster.device->name), c.market));
  }
  for (const auto& text : options.phases) c.phases.push_back(plan::parse_phase(text, hardware));
  Json report = comparison_report(c);
  if (!options.plot.empty()) write_clusters_plot(options.plot, report);
  return report;
}

}  // namespace hum::app

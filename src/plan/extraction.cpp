#include "plan/extraction.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/fields_json.h"
#include "base/folders.h"
#include "base/names.h"

namespace hum::plan {
namespace {

constexpr double kHourSeconds = 3600, kDayHours = 24, kGigabyte = 1e9;

// Throws unless it says where it comes from.
void require(const std::string& place, const char* what, const Figure& figure) {
  if (figure.value > 0 && !figure.source.empty() && !figure.date.empty()) return;
  fail(ExitCode::kConfig,
       fmt::format("{}: {} needs a value above zero, a source and a date", place, what));
}

void require_if_given(const std::string& place, const char* what, const Figure& figure) {
  if (figure.value != 0 || !figure.source.empty()) require(place, what, figure);
}

void require_all(const ExtractionRate& rate) {
  require("rate", "sound_s_per_core_s", rate.sound_s_per_core_s);
  require("rate", "bytes_per_sound_s", rate.bytes_per_sound_s);
  require("rate", "threads_per_process", rate.threads_per_process);
  require("rate", "memory_gb_per_process", rate.memory_gb_per_process);
}

void require_all(const ExtractionNode& node) {
  require(node.name, "cores", node.cores);
  require(node.name, "memory_gb", node.memory_gb);
  require(node.name, "network_gb_per_s", node.network_gb_per_s);
  require(node.name, "price_per_node_hour", node.price_per_node_hour);
  require_if_given(node.name, "reserved_per_node_hour", node.reserved_per_node_hour);
  require_if_given(node.name, "spot_per_node_hour", node.spot_per_node_hour);
}

// The file: {rate: {...}, nodes: {name: {...}}}.
Json part_of(const Json& file, const char* name) {
  const auto found = file.find(name);
  if (found != file.end() && found->is_object()) return *found;
  fail(ExitCode::kConfig, fmt::format("the part '{}' is missing", name),
       "hardware/extraction.yaml shows the form");
}

// Seconds of sound that one node extracts in a second.
struct NodeSpeed {
  double by_processor = 0, by_network = 0;
  double sound_s_per_s() const { return std::min(by_processor, by_network); }
};

NodeSpeed speed_of(const ExtractionWork& work, const ExtractionNode& node) {
  const double busier = std::max(work.input_bytes_per_sound_s, work.output_bytes_per_sound_s);
  return {node.cores.value * work.sound_s_per_core_s,
          node.network_gb_per_s.value * kGigabyte / busier};
}

}  // namespace

std::filesystem::path extraction_figures_path() {
  return data_folder() / "hardware/extraction.yaml";
}

ExtractionFigures read_extraction_figures(const std::filesystem::path& path) {
  const ErrorContext context([&] { return "reading " + path.string(); });
  const Json file = read_yaml(path);
  ExtractionFigures figures;
  from_json(part_of(file, "rate"), figures.rate);
  require_all(figures.rate);
  const Json nodes = part_of(file, "nodes");
  for (const auto& [name, fields] : nodes.items()) {
    ExtractionNode node;
    from_json(fields, node);
    node.name = name;
    require_all(node);
    figures.nodes.emplace(name, std::move(node));
  }
  return figures;
}

const ExtractionNode& ExtractionFigures::at(const std::string& name) const {
  const auto found = nodes.find(name);
  if (found != nodes.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, unused] : nodes) names.push_back(known);
  fail(ExitCode::kUsage, fmt::format("unknown machine '{}'", name),
       fmt::format("the nearest are {}; known are: {}; describe others in a --machines file",
                   fmt::join(nearest_names(name, names), ", "), fmt::join(names, ", ")));
}

ExtractionPlan plan_extraction(const ExtractionWork& work, const ExtractionNode& node,
                               int64_t nodes) {
  const double sound_s = work.sound_hours * kHourSeconds;
  const NodeSpeed speed = speed_of(work, node);
  const double hours =
      sound_s / (static_cast<double>(nodes) * speed.sound_s_per_s()) / kHourSeconds;
  const double node_hours = hours * static_cast<double>(nodes);
  return {.core_hours = work.sound_hours / work.sound_s_per_core_s,
          .input_bytes = sound_s * work.input_bytes_per_sound_s,
          .output_bytes = sound_s * work.output_bytes_per_sound_s,
          .nodes = nodes,
          .days = hours / kDayHours,
          .is_bound_by_network = speed.by_network < speed.by_processor,
          .node_in_bytes_per_s = speed.sound_s_per_s() * work.input_bytes_per_sound_s,
          .node_out_bytes_per_s = speed.sound_s_per_s() * work.output_bytes_per_sound_s,
          .on_demand = node_hours * node.price_per_node_hour.value,
          .reserved = node_hours * node.reserved_per_node_hour.value,
          .spot = node_hours * node.spot_per_node_hour.value};
}

ExtractionPlan plan_extraction_in(const ExtractionWork& work, const ExtractionNode& node,
                                  double days) {
  const double alone = plan_extraction(work, node, 1).days;
  const double nodes = std::ceil(alone / days * (1 - 1e-12));
  return plan_extraction(work, node, std::max<int64_t>(1, std::llround(nodes)));
}

}  // namespace hum::plan

#include "plan/hardware.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/fields_json.h"
#include "base/folders.h"
#include "base/names.h"
#include "base/text.h"

namespace hum::plan {

namespace {

void check(const std::string& device, const char* what, const Figure& figure) {
  if (figure.value > 0 && !figure.source.empty() && !figure.date.empty()) return;
  fail(ExitCode::kConfig,
       fmt::format("{}: {} needs a value above zero, a source and a date", device, what));
}

// A figure may be missing, but not invalid.
void check_if_given(const std::string& device, const char* what, const Figure& figure) {
  if (figure.value != 0 || !figure.source.empty()) check(device, what, figure);
}

void check_all(const Device& device) {
  const std::string& name = device.name;
  check(name, "peak_tflops", device.peak_tflops);
  check(name, "memory_gb", device.memory_gb);
  check(name, "memory_gb_per_s", device.memory_gb_per_s);
  check(name, "link_gb_per_s", device.link_gb_per_s);
  check(name, "devices_per_node", device.devices_per_node);
  if (device.devices_per_node.value != std::round(device.devices_per_node.value)) {
    fail(ExitCode::kConfig, fmt::format("{}: devices_per_node = {} is not a count", name,
                                        device.devices_per_node.value));
  }
  check(name, "network_gb_per_s", device.network_gb_per_s);
  check_if_given(name, "price_per_node_hour", device.price_per_node_hour);
  check_if_given(name, "reserved_per_node_hour", device.reserved_per_node_hour);
  check_if_given(name, "spot_per_node_hour", device.spot_per_node_hour);
  check_if_given(name, "spot_interruptions_per_node_hour", device.spot_interruptions_per_node_hour);
  check_if_given(name, "migration_weeks", device.migration_weeks);
  check_if_given(name, "power_w", device.power_w);
  if (device.spot_per_node_hour.value > 0 && device.spot_interruptions_per_node_hour.value <= 0) {
    fail(ExitCode::kConfig, fmt::format("{}: a spot price without interruptions", name),
         "set spot_interruptions_per_node_hour to the reclaim rate of a node");
  }
}

}  // namespace

std::filesystem::path Hardware::default_path() { return data_folder() / "hardware/devices.yaml"; }

Hardware::Hardware(const std::filesystem::path& path) {
  const ErrorContext context([&] { return "reading " + path.string(); });
  const Json file = read_yaml(path);
  for (const auto& [name, fields] : file.items()) {
    const ErrorContext inner([&device = name] { return "reading device " + device; });
    Device device;
    const auto base = fields.find("base");
    if (base != fields.end() && base->is_string()) device = at(base->get<std::string>());
    from_json(fields, device);
    device.name = name;
    check_all(device);
    if (!device.borrows.empty()) at(device.borrows);
    devices_.emplace(name, std::move(device));
  }
}

const Device* Hardware::largest_of(const std::string& family) const {
  const Device* largest = nullptr;
  for (const auto& [name, device] : devices_) {
    if (!name.starts_with(family + ".")) continue;
    if (largest == nullptr || device.devices_per_node.value > largest->devices_per_node.value)
      largest = &device;
  }
  return largest;
}

const Device* Hardware::find(const std::string& name) const {
  const auto found = devices_.find(name);
  return found != devices_.end() ? &found->second : largest_of(name);
}

const Device& Hardware::node(const std::string& name) const {
  const Device& device = at(name);
  if (device.price_per_node_hour.value > 0) return device;
  const Device* sold = largest_of(name);
  return sold != nullptr ? *sold : device;
}

const Device& Hardware::at(const std::string& name, ExitCode fault) const {
  if (const Device* found = find(name)) return *found;
  std::vector<std::string> names;
  for (const auto& [known, unused] : devices_) names.push_back(known);
  fail(
      fault, fmt::format("unknown hardware '{}'", name),
      fmt::format("the nearest are {}; known are: {}",
                  fmt::join(nearest_names(lower_case(name), names), ", "), fmt::join(names, ", ")));
}

const Device* Hardware::named_in(const std::string& text) const {
  const std::string inside = lower_case(text);
  for (const auto& [name, device] : devices_) {
    if (inside.find(name) != std::string::npos) return &device;
  }
  return nullptr;
}

}  // namespace hum::plan

#include "plan/hardware.h"

#include <algorithm>
#include <cctype>

#include "base/files.h"

namespace hum::plan {

namespace {

void check(const std::string& device, const char* what, const Figure& figure) {
  if (figure.value > 0 && !figure.source.empty() && !figure.date.empty()) return;
  fail(ExitCode::kConfig,
       fmt::format("{}: {} needs a value above zero, a source and a date", device, what));
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

std::filesystem::path Hardware::default_path() { return source_folder() / "hardware/devices.yaml"; }

Hardware::Hardware(const std::filesystem::path& path) {
  const ErrorContext context([&] { return "reading " + path.string(); });
  const Json file = read_yaml(path);
  for (const auto& [name, fields] : file.items()) {
    const ErrorContext inner([&device = name] { return "reading device " + device; });
    Device device;
    if (fields.contains("base")) device = at(fields["base"].get<std::string>());
    from_json(fields, device);
    device.name = name;
    check(name, "peak_tflops", device.peak_tflops);
    check(name, "memory_gb", device.memory_gb);
    check(name, "memory_gb_per_s", device.memory_gb_per_s);
    check(name, "link_gb_per_s", device.link_gb_per_s);
    check(name, "devices_per_node", device.devices_per_node);
    check(name, "network_gb_per_s", device.network_gb_per_s);
    devices_.emplace(name, std::move(device));
  }
}

const Device& Hardware::at(const std::string& name) const {
  const auto found = devices_.find(name);
  if (found != devices_.end()) return found->second;
  std::string names;
  for (const auto& [known, unused] : devices_) names += (names.empty() ? "" : ", ") + known;
  fail(ExitCode::kConfig, fmt::format("unknown hardware '{}'", name), "known are: " + names);
}

const Device* Hardware::named_in(const std::string& text) const {
  const std::string inside = lower(text);
  for (const auto& [name, device] : devices_) {
    if (inside.find(name) != std::string::npos) return &device;
  }
  return nullptr;
}

}  // namespace hum::plan

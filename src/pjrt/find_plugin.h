// Finds the plugins of the devices that hum knows by name, in unpacked wheels or among installed
// Python packages.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hum::pjrt {

// "cpu, cuda, tpu, neuron"
std::string known_devices();

// The path of the plugin. `device`: a known device, or a path. `folders`: searched in order; each
// contains unpacked wheels, in folders named after them, or Python packages. If the CPU's default
// plugin is not found, its alternative is used, with a warning. Throws: kUnavailable, listing the
// probed paths and how to install a known device's plugin.
std::filesystem::path find_plugin(std::string_view device,
                                  std::span<const std::filesystem::path> folders);

// Searches wheel_folders() (base/files.h), then Python's packages (the virtual environment's
// first).
std::filesystem::path find_plugin(std::string_view device);

// For the device in HUM_PLUGIN, or the CPU. Throws as above.
std::filesystem::path default_plugin_path();

}  // namespace hum::pjrt

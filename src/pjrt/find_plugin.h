// Where the plugins of the devices that hum knows by name lie: in wheels unpacked below a folder,
// or installed among Python's packages.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hum::pjrt {

// "cpu, cuda, tpu, neuron"
std::string known_devices();

// The plugin's file. `device`: one of the known devices, or else a file. `folders`: of unpacked
// wheels, each in a folder of its own name, or of Python packages; asked in order. Where none has
// the default plugin of the CPU, its stand-in is used, with a warning.
// Throws: kUnavailable, listing what was probed and how to get a known device's plugin.
std::filesystem::path find_plugin(std::string_view device,
                                  std::span<const std::filesystem::path> folders);

// In HUM_THIRD_PARTY and the build's third_party folder; only then among Python's packages (the
// virtual environment's first).
std::filesystem::path find_plugin(std::string_view device);

// Of the device that HUM_PLUGIN names, or of the CPU. Throws as above.
std::filesystem::path default_plugin_path();

}  // namespace hum::pjrt

#include "pjrt/find_plugin.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/log.h"

namespace hum::pjrt {
namespace {

namespace fs = std::filesystem;

struct Known {
  std::string_view device;
  std::string_view wheel;  // folder name used by tools/fetch_wheels.sh
  std::string_view file;   // within the wheel
  std::string_view hint;
};
// A device's first row is its default plugin; later rows are used if it is missing.
constexpr Known kKnown[] = {
    {"cpu", "fastatomstruct_xla_cpu", "fastatomstruct_xla_cpu/libpjrt_cpu.so",
     "run `make fetch` to unpack the CPU plugin, or name a plugin's file by --device or "
     "HUM_PLUGIN"},
    {"cpu", "xla_cpu_pjrt", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", ""},
    {"cuda", "jax_cuda13_pjrt", "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
     "pip install jax-cuda13-pjrt installs it and NVIDIA's libraries; or give the plugin's path"},
    {"tpu", "libtpu", "libtpu/libtpu.so",
     "pip install libtpu installs it; or give the plugin's path"},
    {"neuron", "libneuronxla", "libneuronxla/libneuronpjrt.so",
     "pip install libneuronxla from AWS's package index installs it; or give the plugin's path"},
};

// The subfolders of `parent` where Python keeps packages.
void add_packages(const fs::path& parent, std::vector<fs::path>& folders) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    for (const char* name : {"site-packages", "dist-packages"}) {
      if (fs::is_directory(entry.path() / name, error)) found.push_back(entry.path() / name);
    }
  }
  std::ranges::sort(found);
  folders.insert(folders.end(), found.begin(), found.end());
}

std::vector<fs::path> package_folders() {
  std::vector<fs::path> folders;
  if (const std::string python = env_string("VIRTUAL_ENV"); !python.empty()) {
    add_packages(fs::path(python) / "lib", folders);
  }
  for (const char* parent : {"/usr/local/lib", "/usr/lib"}) add_packages(parent, folders);
  return folders;
}

const Known* known_device(std::string_view device) {
  const auto* known = std::ranges::find(kKnown, device, &Known::device);
  return known == std::end(kKnown) ? nullptr : known;
}

// Adds a line to the report for every missing file.
std::optional<fs::path> probe(const Known& known, std::span<const fs::path> folders,
                              std::string& report) {
  for (const fs::path& folder : folders) {
    for (const fs::path& path : {folder / known.wheel / known.file, folder / known.file}) {
      std::error_code error;
      if (fs::exists(path, error)) return path;
      report +=
          fmt::format("\n  probed {}: {}", path.string(), error ? error.message() : "no such file");
    }
  }
  return std::nullopt;
}

}  // namespace

std::string known_devices() {
  std::string names;
  for (const Known& known : kKnown) {
    if (&known != known_device(known.device)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.device);
  }
  return names;
}

fs::path find_plugin(std::string_view device, std::span<const fs::path> folders) {
  const Known* first = known_device(device);
  if (first == nullptr) return device;
  std::string report;
  for (const Known& known : kKnown) {
    if (known.device != device) continue;
    const auto path = probe(known, folders, report);
    if (!path) continue;
    if (&known != first) {
      warn_once(std::string(known.wheel),
                fmt::format("the plugin of {} is missing, so {} is used, which is slower; {}",
                            first->wheel, known.wheel, first->hint));
    }
    return *path;
  }
  fail(ExitCode::kUnavailable, fmt::format("no PJRT plugin for device {} found{}", device, report),
       std::string(first->hint));
}

fs::path find_plugin(std::string_view device) {
  std::vector<fs::path> folders = wheel_folders();
  std::ranges::copy(package_folders(), std::back_inserter(folders));
  return find_plugin(device, folders);
}

fs::path default_plugin_path() { return find_plugin(env_string("HUM_PLUGIN", "cpu")); }

}  // namespace hum::pjrt

// A PJRT plugin: a shared library, opened at run time, that compiles and runs StableHLO. A plugin
// is never closed: its threads and static state outlive every use.
#pragma once

#include <pjrt_c_api.h>

#include <filesystem>
#include <memory>

#include "pjrt/find_plugin.h"
#include "pjrt/named_value.h"

namespace hum::pjrt {

class Plugin {
 public:
  // Oldest PJRT API (0.x) whose functions hum relies on.
  static constexpr int kMinimumMinor = 70;

  // Sets TF_CPP_MIN_LOG_LEVEL, OMP_WAIT_POLICY and PJRT_NPROC if they are unset, then opens the
  // plugin. Throws: kUnavailable if the file is missing, is not a plugin, or is too old.
  static std::shared_ptr<const Plugin> open(const std::filesystem::path& path);
  static std::shared_ptr<const Plugin> open() { return open(default_plugin_path()); }

  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Functions that the plugin lacks are null.
  const PJRT_Api& api() const { return api_; }
  int api_minor() const { return api_.pjrt_api_version.minor_version; }
  // First extension of that type, or null.
  const PJRT_Extension_Base* extension(PJRT_Extension_Type type) const;
  // E.g. xla_version, stablehlo_current_version.
  NamedValues attributes() const;

 private:
  Plugin(std::filesystem::path path, const PJRT_Api& api);
  std::filesystem::path path_;
  PJRT_Api api_;
};

}  // namespace hum::pjrt

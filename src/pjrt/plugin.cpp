#include "pjrt/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/threads.h"
#include "pjrt/call.h"

namespace hum::pjrt {
namespace {

namespace fs = std::filesystem;

std::string hint() {
  return fmt::format(
      "check the path, or name a device ({}) or another plugin's file by --device or HUM_PLUGIN",
      known_devices());
}

// Read by start-up code of the plugin and OpenMP; values set by the user are kept.
void prepare_environment() {
  const bool tracing = env_string("HUM_LOG") == "trace";
  if (!tracing) ::setenv("TF_CPP_MIN_LOG_LEVEL", "3", /*overwrite=*/0);
  ::setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);
  ::setenv("PJRT_NPROC", std::to_string(compute_threads()).c_str(), /*overwrite=*/0);
}

// A copy of the table, padded with nulls after the functions that the plugin filled in.
PJRT_Api padded_copy(const PJRT_Api& api) {
  PJRT_Api copy{};
  std::memcpy(&copy, &api, std::min(api.struct_size, sizeof(copy)));
  return copy;
}

void require_version(const fs::path& path, const PJRT_Api_Version& version) {
  if (version.major_version == PJRT_API_MAJOR && version.minor_version >= Plugin::kMinimumMinor) {
    return;
  }
  fail(ExitCode::kUnavailable,
       fmt::format("plugin {} has PJRT API {}.{}, hum needs {}.{} or newer", path.string(),
                   version.major_version, version.minor_version, PJRT_API_MAJOR,
                   Plugin::kMinimumMinor),
       hint());
}

}  // namespace

std::shared_ptr<const Plugin> Plugin::open(const fs::path& path) {
  if (std::error_code error; !fs::is_regular_file(path, error)) {
    fail(ExitCode::kUnavailable,
         fmt::format("PJRT plugin {}: {}", path.string(),
                     fs::exists(path, error) ? "not a file" : "no such file"),
         hint());
  }
  prepare_environment();
  // An absolute path: dlopen would search the library path for a bare file name.
  void* library = ::dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail(ExitCode::kUnavailable, fmt::format("cannot open PJRT plugin: {}", ::dlerror()), hint());
  }
  using GetPjrtApi = const PJRT_Api* (*)();
  const auto get_api = reinterpret_cast<GetPjrtApi>(::dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) {
    fail(ExitCode::kUnavailable,
         fmt::format("{} opens, but is not a PJRT plugin: it has no GetPjrtApi", path.string()),
         hint());
  }
  const PJRT_Api* api = get_api();
  if (api == nullptr) {
    fail(ExitCode::kUnavailable, fmt::format("plugin {} gave no API table", path.string()), hint());
  }
  require_version(path, api->pjrt_api_version);
  return std::shared_ptr<const Plugin>(new Plugin(path, *api));
}

Plugin::Plugin(fs::path path, const PJRT_Api& api)
    : path_(std::move(path)), api_(padded_copy(api)) {
  PJRT_Plugin_Initialize_Args args{};
  HUM_PJRT_CALL(api_, PJRT_Plugin_Initialize, args);
}

const PJRT_Extension_Base* Plugin::extension(PJRT_Extension_Type type) const {
  for (auto* extension = api_.extension_start; extension != nullptr; extension = extension->next) {
    // A newer plugin may have types that are not in our enum, so the number is read as a plain
    // integer.
    std::underlying_type_t<PJRT_Extension_Type> found;
    std::memcpy(&found, &extension->type, sizeof(found));
    if (found == static_cast<decltype(found)>(type)) return extension;
  }
  return nullptr;
}

NamedValues Plugin::attributes() const {
  PJRT_Plugin_Attributes_Args args{};
  HUM_PJRT_CALL(api_, PJRT_Plugin_Attributes, args);
  return from_c({args.attributes, args.num_attributes});
}

}  // namespace hum::pjrt

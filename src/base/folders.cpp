#include "base/folders.h"

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"

namespace hum {
namespace fs = std::filesystem;
namespace {

// The PREFIX of an installed program; empty in a build folder.
fs::path installed_prefix() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path prefix = program.parent_path().parent_path();
  return !error && is_folder(prefix / "share/hum") ? prefix : fs::path();
}

}  // namespace

fs::path cache_folder() {
  if (const auto folder = env_string("HUM_CACHE"); !folder.empty()) return folder;
  if (const auto xdg = env_string("XDG_CACHE_HOME"); !xdg.empty()) return fs::path(xdg) / "hum";
  const fs::path home = env_string("HOME");
  return is_folder(home) ? home / ".cache/hum" : fs::path();
}

fs::path runs_folder() {
  if (const auto folder = env_string("HUM_RUNS"); !folder.empty()) return folder;
  const fs::path cache = cache_folder();
  return cache.empty() ? cache : cache / "runs";
}

std::string with_runs_folder(const std::string& path) {
  constexpr std::string_view kVariable = "$HUM_RUNS";
  const bool is_below = path == kVariable || path.starts_with(std::string(kVariable) + "/");
  if (!is_below) return path;
  const fs::path runs = runs_folder();
  if (runs.empty()) {
    fail(ExitCode::kUsage, path + ": there is no home folder, so $HUM_RUNS has no default",
         "set HUM_RUNS to a folder");
  }
  return runs.string() + path.substr(kVariable.size());
}

fs::path source_folder() { return env_string("HUM_SOURCE_DIR", HUM_SOURCE_FOLDER); }

fs::path data_folder() {
  const fs::path prefix = installed_prefix();
  return prefix.empty() ? source_folder() : prefix / "share/hum";
}

std::string typed_data_path(const std::string& path) {
  return installed_prefix().empty() ? path : (data_folder() / path).string();
}

std::vector<fs::path> wheel_folders() {
  std::vector<fs::path> folders;
  if (const auto folder = env_string("HUM_THIRD_PARTY"); !folder.empty()) {
    folders.emplace_back(folder);
  }
  const fs::path prefix = installed_prefix();
  folders.push_back(prefix.empty() ? fs::path(HUM_THIRD_PARTY_FOLDER) : prefix / "lib/hum");
  return folders;
}

fs::path in_wheels(const fs::path& path) {
  const auto folders = wheel_folders();
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / path)) return folder / path;
  }
  return folders.front() / path;
}

}  // namespace hum

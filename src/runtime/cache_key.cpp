#include "runtime/cache_key.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"

namespace hum::runtime {
namespace {

namespace fs = std::filesystem;

const std::string* find(const std::vector<CacheKey::Field>& fields, const std::string& name) {
  const auto found = std::ranges::find(fields, name, &CacheKey::Field::first);
  return found == fields.end() ? nullptr : &found->second;
}

// The hash for `file` in the RECORD (one "path,sha256=...,size" per line) of a wheel unpacked in
// `root`.
std::optional<std::string> recorded_hash(const fs::path& root, const fs::path& file) {
  const std::string wanted = file.lexically_relative(root).string() + ",sha256=";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (entry.path().extension() != ".dist-info") continue;
    std::ifstream record(entry.path() / "RECORD");
    for (std::string line; std::getline(record, line);) {
      if (!line.starts_with(wanted)) continue;
      const std::string rest = line.substr(wanted.size());
      return rest.substr(0, rest.find(','));
    }
  }
  return std::nullopt;
}

// Same, for a wheel unpacked in any of the nearest folders above `file`.
std::optional<std::string> recorded_hash(const fs::path& file) {
  constexpr int kLevels = 4;
  fs::path root = file.parent_path();
  for (int level = 0; level < kLevels; ++level, root = root.parent_path()) {
    if (auto hash = recorded_hash(root, file)) return hash;
  }
  return std::nullopt;
}

// The file's own hash, cached by its path, size and modification time.
std::string content_hash(const fs::path& file, const std::string& stamp,
                         const fs::path& memo_folder) {
  if (memo_folder.empty()) return sha256_file(file);
  const fs::path memo = memo_folder / ("plugin-" + sha256(file.string() + stamp) + ".sha256");
  std::error_code error;
  if (fs::exists(memo, error)) return read_file(memo);
  const std::string hash = sha256_file(file);
  fs::create_directories(memo_folder, error);
  try {
    write_file(memo, hash);
  } catch (const Error&) {
    // If the cache folder is read-only, the file is just hashed again next time.
  }
  return hash;
}

}  // namespace

std::string CacheKey::hash() const {
  std::string text;
  for (const auto& [name, value] : fields_) {
    text += fmt::format("{}={}:{}\n", name, value.size(), value);
  }
  return sha256(text);
}

std::vector<std::string> CacheKey::differences(const CacheKey& other) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields_) {
    const std::string* theirs = find(other.fields_, name);
    if (theirs == nullptr || *theirs != value) names.push_back(name);
  }
  for (const auto& [name, value] : other.fields_) {
    if (find(fields_, name) == nullptr) names.push_back(name);
  }
  return names;
}

std::string plugin_identity(const fs::path& plugin, const fs::path& memo_folder) {
  const fs::path file = fs::canonical(plugin);
  const auto time = fs::last_write_time(file).time_since_epoch().count();
  const std::string stamp = fmt::format("{} bytes, time {}", fs::file_size(file), time);
  const auto recorded = recorded_hash(file);
  return fmt::format("{}, {}", recorded ? *recorded : content_hash(file, stamp, memo_folder),
                     stamp);
}

std::string cpu_identity() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown", features;
  for (std::string line; std::getline(info, line) && !line.empty();) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.starts_with("model name")) model = line.substr(colon + 2);
    if (line.starts_with("flags")) features = line.substr(colon + 2);
  }
  return fmt::format("{}, features {}", model, sha256(features).substr(0, 16));
}

std::string kernels_used(std::string_view module_text, std::span<const pjrt::KernelRow> kernels) {
  std::string used;
  for (const pjrt::KernelRow& row : kernels) {
    const bool called = module_text.find(fmt::format("@{}(", row.name)) != std::string::npos ||
                        module_text.find(fmt::format("\"{}\"", row.name)) != std::string::npos;
    if (called) used += fmt::format("{}{}:{}", used.empty() ? "" : ", ", row.name, row.version);
  }
  return used;
}

}  // namespace hum::runtime

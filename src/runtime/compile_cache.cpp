#include "runtime/compile_cache.h"

#include <algorithm>
#include <cctype>
#include <fstream>

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"

namespace hum::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "hum-program 1 ";
constexpr const char* kExtension = ".program";

// "coarse/train" -> "coarse_train"
std::string file_stem(const std::string& name) {
  std::string stem = name;
  std::ranges::replace_if(
      stem, [](unsigned char c) { return !(std::isalnum(c) || c == '.' || c == '_'); }, '_');
  return stem;
}

std::string header_line(const std::string& name, const CacheKey& key) {
  Json fields = Json::object();
  for (const auto& [field, value] : key.fields()) fields[field] = value;
  return Json{{"name", name}, {"key", fields}}.dump() + "\n";
}

// The key fields in an entry's header line; absent when it is not one.
std::optional<CacheKey> parse_header(const std::string& line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("key") || !json["key"].is_object()) return std::nullopt;
  std::vector<CacheKey::Field> fields;
  for (const auto& [field, value] : json["key"].items()) {
    if (!value.is_string()) return std::nullopt;
    fields.emplace_back(field, value.get<std::string>());
  }
  return CacheKey(std::move(fields));
}

std::optional<CacheKey> read_header(const fs::path& entry) {
  std::ifstream file(entry, std::ios::binary);
  std::string magic, header;
  if (!std::getline(file, magic) || !magic.starts_with(kMagic)) return std::nullopt;
  if (!std::getline(file, header)) return std::nullopt;
  return parse_header(header);
}

// The program in an entry's bytes; absent, with the reason, when they are damaged.
std::optional<std::string> parse_entry(const std::string& bytes, const CacheKey& key,
                                       std::string& why_not) {
  const size_t first = bytes.find('\n');
  if (!bytes.starts_with(kMagic) || first == std::string::npos) {
    why_not = "it is not an entry of this version";
    return std::nullopt;
  }
  const std::string body = bytes.substr(first + 1);
  if (bytes.substr(kMagic.size(), first - kMagic.size()) != sha256(body)) {
    why_not = "its checksum is wrong";
    return std::nullopt;
  }
  const size_t second = body.find('\n');
  const auto stored = parse_header(body.substr(0, second));
  if (!stored || *stored != key) {
    why_not = "it belongs to another key";
    return std::nullopt;
  }
  return body.substr(second + 1);
}

std::string entry_text(const std::string& name, const CacheKey& key, const std::string& program) {
  const std::string body = header_line(name, key) + program;
  return fmt::format("{}{}\n", kMagic, sha256(body)) + body;
}

}  // namespace

fs::path CompileCache::entry_path(const std::string& name, const CacheKey& key) const {
  return folder_ / fmt::format("{}-{}{}", file_stem(name), key.hash().substr(0, 32), kExtension);
}

bool CompileCache::has_run(const std::string& name, const CacheKey& key) const {
  std::error_code error;
  const auto status = fs::status(entry_path(name, key), error);
  return !error && (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
}

void CompileCache::mark_run(const std::string& name, const CacheKey& key) const {
  std::error_code ignored;  // then it is probed again
  fs::permissions(entry_path(name, key), fs::perms::owner_exec, fs::perm_options::add, ignored);
}

CompileCache::Lookup CompileCache::load_from(const fs::path& path, const CacheKey& key) const {
  try {
    std::string why_not;
    auto program = parse_entry(read_file(path), key, why_not);
    if (program) {
      std::error_code ignored;
      fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // used just now
      return {.program = std::move(program)};
    }
    spdlog::warn("compile cache: {} is ignored: {}", path.string(), why_not);
    return {.corrupt = true, .cause = "the entry is damaged: " + why_not};
  } catch (const Error& failure) {
    return {.corrupt = true, .cause = "the entry cannot be read: " + failure.message()};
  }
}

CompileCache::Lookup CompileCache::load(const std::string& name, const CacheKey& key) const {
  if (!enabled()) return {.cause = "the disk cache is off"};
  std::error_code error;
  Lookup lookup;
  if (const fs::path path = entry_path(name, key); fs::exists(path, error)) {
    lookup = load_from(path, key);
  } else {
    lookup.cause = explain_miss(name, key);
  }
  if (lookup.program || shared_.empty()) return lookup;
  const std::string file = entry_path(name, key).filename().string();
  if (!fs::exists(shared_ / file, error)) return lookup;
  Lookup shared = load_from(shared_ / file, key);
  if (!shared.program) return lookup;
  shared.corrupt = lookup.corrupt;
  if (!folder_.empty()) store_in(folder_, file, entry_text(name, key, *shared.program));
  return shared;
}

bool CompileCache::store_in(const fs::path& folder, const std::string& file,
                            const std::string& entry) const {
  try {
    fs::create_directories(folder);
    write_file(folder / file, entry);
    return true;
  } catch (const std::exception& failure) {
    warn_once(
        "compile cache " + folder.string(),
        fmt::format("compiled programs cannot be kept in {}: {}", folder.string(), failure.what()));
    return false;
  }
}

void CompileCache::store(const std::string& name, const CacheKey& key,
                         const std::string& program) const {
  const std::string file = entry_path(name, key).filename().string();
  const std::string entry = entry_text(name, key, program);
  if (!folder_.empty() && store_in(folder_, file, entry)) prune();
  if (!shared_.empty()) store_in(shared_, file, entry);
}

void CompileCache::prune() const {
  struct Entry {
    fs::path path;
    int64_t bytes;
    fs::file_time_type used;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;  // another process may remove a file at any time
  for (const auto& item : fs::directory_iterator(folder_, error)) {
    if (item.path().extension() != kExtension) continue;
    const auto bytes = static_cast<int64_t>(item.file_size(error));
    if (error) continue;
    entries.push_back({item.path(), bytes, item.last_write_time(error)});
    total += bytes;
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= limit_bytes_) return;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

std::string CompileCache::explain_miss(const std::string& name, const CacheKey& key) const {
  const std::string prefix = file_stem(name) + "-";
  std::optional<std::vector<std::string>> nearest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const fs::path& path = entry.path();
    if (path.extension() != kExtension || !path.filename().string().starts_with(prefix)) continue;
    const auto stored = read_header(path);
    if (!stored) continue;
    auto differences = key.differences(*stored);
    if (!nearest || differences.size() < nearest->size()) nearest = std::move(differences);
  }
  if (!nearest) return "it was never compiled before";
  return fmt::format("the nearest entry differs in: {}", fmt::join(*nearest, ", "));
}

fs::path shared_cache_folder() {
  const std::string own = env_string("HUM_CACHE_SECOND");
  const std::string place = own.empty() ? env_string("NEURON_COMPILE_CACHE_URL") : own;
  constexpr std::string_view kFile = "file://";
  if (place.starts_with(kFile)) return place.substr(kFile.size());
  if (place.find("://") != std::string::npos) {
    fail(ExitCode::kConfig, fmt::format("the compile cache cannot lie at {}", place),
         "mount the bucket (mount-s3, s3fs) and give its path: HUM_CACHE_SECOND=/mnt/cache");
  }
  return place;
}

}  // namespace hum::runtime

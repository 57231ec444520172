#include "runtime/compile_cache.h"

#include <algorithm>
#include <cctype>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
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
  return to_text(Json{{"name", name}, {"key", fields}}) + "\n";
}

// The key fields in an entry's header line; absent if the line is not one.
std::optional<CacheKey> parse_header(const std::string& line) {
  const Json json = try_parse_json(line);
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

// The program in an entry's bytes; absent, with the reason, if they are damaged.
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
  std::error_code ignored;  // if this fails, the entry is probed again
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
  if (lookup.program || !shared_) return lookup;
  lookup.program = load_shared(entry_path(name, key).filename().string(), key);
  if (lookup.program) lookup.cause.clear();
  return lookup;
}

std::optional<std::string> CompileCache::load_shared(const std::string& file,
                                                     const CacheKey& key) const {
  const auto entry = shared_->get(file);
  if (!entry) return std::nullopt;
  std::string why_not;
  auto program = parse_entry(*entry, key, why_not);
  if (!program) spdlog::warn("compile cache: the shared {} is ignored: {}", file, why_not);
  if (program && !folder_.empty() && keep_entry(folder_.string(), file, *entry)) prune();
  return program;
}

void CompileCache::store(const std::string& name, const CacheKey& key,
                         const std::string& program) const {
  const std::string file = entry_path(name, key).filename().string();
  std::string entry = entry_text(name, key, program);
  if (!folder_.empty() && keep_entry(folder_.string(), file, entry)) {
    mark_run(name, key);
    prune();
  }
  if (shared_) shared_->put(file, std::move(entry));
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

}  // namespace hum::runtime

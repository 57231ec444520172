#include "app/extraction/s3_store.h"

#include <algorithm>

#include "base/error.h"

namespace hum::app {
namespace {

// A server that was killed may take half a minute to answer again.
constexpr std::chrono::seconds kPatience(60);

}  // namespace

S3Options shard_options_from_environment() {
  S3Options options = s3_options_from_environment();
  options.patience = kPatience;
  return options;
}

S3Store::S3Store(std::string url, S3Options options)
    : url_(std::move(url)),
      prefix_(parse_s3_url(url_).prefix),
      bucket_(std::move(options), parse_s3_url(url_).bucket) {}

std::string S3Store::key(std::string_view name) const {
  return fmt::format("{}{}{}", prefix_, prefix_.empty() ? "" : "/", name);
}

void S3Store::put(const data::ShardEntry& entry, std::string_view archive) {
  const std::string key = this->key(entry.name);
  bucket_.put_new(key, archive, entry.sha256);
  if (bucket_.holds(key, archive, entry.sha256)) return;
  bucket_.put(key, archive);  // what is there is damaged
  if (bucket_.holds(key, archive, entry.sha256)) return;
  fail(ExitCode::kCannotCreate, fmt::format("{}/{}: reads back otherwise", url_, entry.name),
       "check the server, and that nothing else writes to this prefix");
}

std::vector<StoredFile> S3Store::list() const {
  std::vector<StoredFile> files;
  for (const S3Object& object : bucket_.list(key(kShardPrefix))) {
    const std::string name = object.key.substr(key("").size());
    if (!name.ends_with(kShardExtension) || name.find('/') != name.npos) continue;
    files.push_back({name, name, object.size_bytes});
  }
  return files;
}

bool S3Store::remove(const std::string& name) {
  bucket_.remove(key(name));
  return true;
}

// A listing, because the response to a HEAD does not say that the bucket is missing; nor that the
// object is, to a user who may list only this prefix.
bool S3Store::has(std::string_view name) const {
  const auto objects = bucket_.list(key(name));
  return std::ranges::any_of(objects, [&](const auto& object) { return object.key == key(name); });
}

bool S3Store::has_list() const { return has(data::kManifest); }

void S3Store::write_list(const Json& options, std::span<const data::ShardEntry> shards) {
  bucket_.put(key(data::kManifest), data::manifest_text(options, shards));
}

std::string S3Store::mark() const {
  return has(kMarkFile) ? bucket_.get(key(kMarkFile)).value_or("") : "";
}

void S3Store::set_mark(const std::string& id) { bucket_.put(key(kMarkFile), id + "\n"); }

}  // namespace hum::app

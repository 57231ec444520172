#include "app/extraction/shard_store.h"

#include <algorithm>

#include "app/extraction/s3_store.h"
#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/hash.h"
#include "base/s3.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

void flush_folder(const fs::path& folder) {
  if (flush_to_disk(folder) == 0) return;
  fail(ExitCode::kCannotCreate, folder.string() + ": cannot be written to the disk",
       "check the disk (dmesg)");
}

}  // namespace

data::ShardEntry shard_entry(std::string_view archive, int64_t items) {
  const std::string hash = sha256(archive);
  return {fmt::format("{}{}{}", kShardPrefix, hash, kShardExtension), items, std::ssize(archive),
          hash};
}

std::string place_of_output(const std::string& output) {
  if (output.empty()) fail(ExitCode::kUsage, "the folder of features has no name", "-o features/");
  if (is_s3_url(output)) {
    const S3Place place = parse_s3_url(output);
    return fmt::format("s3://{}{}{}", place.bucket, place.prefix.empty() ? "" : "/", place.prefix);
  }
  const fs::path folder = with_runs_folder(output);
  return (folder.has_filename() ? folder : folder.parent_path()).string();
}

void require_mark(const ShardStore& store, const std::string& place, const std::string& id) {
  if (id.empty()) return;
  const std::string mark = store.mark(), found = mark.substr(0, mark.find('\n'));
  if (found == id) return;
  if (!found.empty()) {
    fail(ExitCode::kUsage, fmt::format("{}: holds the shards of another job ({})", place, found),
         "choose another place with -o, or mount the one with the shards of this job");
  }
  fail(ExitCode::kNoInput,
       fmt::format("{}: is not the place with the shards of this job: it lacks the file {}", place,
                   kMarkFile),
       fmt::format("{}; if it is the right place, write {} to {}/{}",
                   is_s3_url(place) ? "check AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL"
                                    : "mount the shared folder on this host",
                   id, place, kMarkFile));
}

std::unique_ptr<ShardStore> open_store(const std::string& place, std::function<void()> repeating) {
  if (!is_s3_url(place)) return std::make_unique<FolderStore>(place);
  S3Options options = shard_options_from_environment();
  options.repeating = std::move(repeating);
  return std::make_unique<S3Store>(place, std::move(options));
}

void FolderStore::put(const data::ShardEntry& entry, std::string_view archive) {
  AtomicFile file(folder_ / entry.name);
  file.write(archive);
  if (sha256_file(file.temporary_path()) != entry.sha256) {
    fail(ExitCode::kCannotCreate, (folder_ / entry.name).string() + ": reads back otherwise",
         "check the disk (dmesg)");
  }
  file.commit();
  flush_folder(folder_);
}

std::vector<StoredFile> FolderStore::list() const {
  std::vector<StoredFile> files;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kShardExtension)) continue;
    // An unfinished file is .features-<SHA-256>.tmp-<process>-<n>.tar.
    const std::string visible = name.substr(name.starts_with('.') ? 1 : 0);
    if (!visible.starts_with(kShardPrefix)) continue;
    std::error_code gone;
    const auto bytes = entry.file_size(gone);
    files.push_back({name, visible.substr(0, visible.find('.')) + std::string(kShardExtension),
                     gone ? 0 : static_cast<int64_t>(bytes)});
  }
  std::ranges::sort(files, {}, &StoredFile::name);
  return files;
}

bool FolderStore::remove(const std::string& name) {
  std::error_code error;
  const bool was_there = fs::remove(folder_ / name, error);
  if (!error) return was_there;
  fail(ExitCode::kCannotCreate,
       fmt::format("{}: cannot be removed: {}", (folder_ / name).string(), error.message()),
       "check the permissions of its folder (ls -ld)");
}

bool FolderStore::has_list() const { return fs::exists(folder_ / data::kManifest); }

void FolderStore::write_list(const Json& options, std::span<const data::ShardEntry> shards) {
  data::write_manifest(folder_, options, shards);
}

std::string FolderStore::mark() const {
  const fs::path file = folder_ / kMarkFile;
  return fs::exists(file) ? read_file(file) : "";
}

void FolderStore::set_mark(const std::string& id) {
  write_file(folder_ / kMarkFile, id + "\n");
  flush_folder(folder_);
}

}  // namespace hum::app

#include "app/extraction/extract_upkeep.h"

#include <map>
#include <memory>
#include <set>

#include "app/extraction/extract_database.h"
#include "app/extraction/sqlite_table.h"
#include "base/error.h"
#include "base/files.h"
#include "base/s3.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

struct ExistingTable {
  std::unique_ptr<RecordingTable> table;
  std::string place, mark;
  // Where its shards are, and no folder of the same name on a host that lacks them.
  std::unique_ptr<ShardStore> store() const {
    auto store = open_store(place);
    require_mark(*store, place, mark);
    return store;
  }
};

ExistingTable open_table(const std::string& output, const DatabaseJob& database) {
  if (output.empty() && database.from.empty()) {
    fail(ExitCode::kUsage, "no features were named",
         "name their folder, or the database with --from");
  }
  if (database.from.empty()) {
    require_no_database_flag(!database.job.empty(), "job");
    require_no_database(output);
    if (is_s3_url(output)) {
      fail(ExitCode::kUsage, output + ": a bucket was given without its database",
           "the database knows the bucket: give only --from");
    }
    const std::string place = place_of_output(output);
    return {std::make_unique<SqliteTable>(fs::path(place) / kTableFile, nullptr, kUsualLease_s),
            place, ""};
  }
  if (!output.empty()) {
    fail(ExitCode::kUsage, "a folder was given beside a database",
         "the database knows the folder: give only --from");
  }
  auto table = std::make_unique<PostgresTable>(Postgres(database.from),
                                               PostgresJob{.name = database.job}, kUsualLease_s);
  const std::string place = table->output(), mark = table->mark();
  return {std::move(table), place, mark};
}

// Listed shards, and all files of those that are only announced, which a process may be writing. A
// listed shard is whole: an unfinished file of it is from a process that was killed or lost its
// lease before another one wrote the same shard.
std::set<std::string> names_of_kept(std::span<const TableShard> shards,
                                    std::span<const StoredFile> files) {
  std::map<std::string, bool> is_listed;
  for (const TableShard& shard : shards) is_listed[shard.entry.name] = shard.is_listed;
  std::set<std::string> kept;
  for (const StoredFile& file : files) {
    const auto shard = is_listed.find(file.shard);
    if (shard == is_listed.end()) continue;
    const bool is_unfinished = file.name != file.shard;
    if (!is_unfinished || !shard->second) kept.insert(file.name);
  }
  return kept;
}

}  // namespace

void write_list(RecordingTable& table, ShardStore& store) {
  const Json options = table.options();
  // While nothing is listed, so that an older list never replaces a newer one.
  table.with_shards([&](std::span<const TableShard> shards) {
    std::vector<data::ShardEntry> listed;
    for (const TableShard& shard : shards) {
      if (shard.is_listed) listed.push_back(shard.entry);
    }
    store.write_list(options, listed);
  });
}

CollectedGarbage remove_unlisted(RecordingTable& table, ShardStore& store) {
  // A shard is announced before it is stored, so each of these files is named, or was abandoned.
  const std::vector<StoredFile> files = store.list();
  std::map<std::string, int64_t> removed_bytes;  // by name: a repeated removal counts once
  // While nothing is announced, so that no abandoned shard is stored again before its removal.
  table.with_shards([&](std::span<const TableShard> shards) {
    const std::set<std::string> kept = names_of_kept(shards, files);
    for (const StoredFile& file : files) {
      if (kept.contains(file.name)) continue;
      table.require_alone();
      if (store.remove(file.name)) removed_bytes[file.name] = file.bytes;
    }
  });
  CollectedGarbage garbage{.files = std::ssize(removed_bytes)};
  for (const auto& [name, bytes] : removed_bytes) garbage.bytes += bytes;
  return garbage;
}

ExtractionStatus extraction_status(const std::string& output, const DatabaseJob& database) {
  const auto [table, place, mark] = open_table(output, database);
  ExtractionStatus status{.folder = place};
  table->with_shards([&](std::span<const TableShard> shards) {
    status.shards = status.bytes = 0;
    for (const TableShard& shard : shards) {
      status.shards += shard.is_listed ? 1 : 0;
      status.bytes += shard.entry.bytes;  // 0 of one that is not listed
    }
  });
  status.counts = table->counts();
  status.set_aside = table->set_aside();
  return status;
}

int64_t requeue(const std::string& output, bool failed, const std::string& shard,
                const DatabaseJob& database) {
  if (!failed && shard.empty()) {
    fail(ExitCode::kUsage, "nothing was chosen to extract again",
         "--failed: the recordings that failed; --shard NAME: those of a damaged shard");
  }
  const ExistingTable existing = open_table(output, database);
  const std::string& place = existing.place;
  RecordingTable& table = *existing.table;
  int64_t count = failed ? table.requeue_failed() : 0;
  if (!shard.empty()) {
    const auto store = existing.store();
    const int64_t of_shard = table.requeue_shard(shard);
    write_list(table, *store);
    if (of_shard == 0) {
      fail(ExitCode::kNoInput, fmt::format("{}: lists no shard '{}'", place, shard),
           fmt::format("hum data verify {} names the damaged shards",
                       is_s3_url(place) ? "COPY" : place));
    }
    count += of_shard;
  }
  return count;
}

CollectedGarbage collect_garbage(const std::string& output, const DatabaseJob& database) {
  const ExistingTable existing = open_table(output, database);
  if (!is_s3_url(existing.place)) {
    require_folder(existing.place, "run this on a machine that has the folder");
  }
  return remove_unlisted(*existing.table, *existing.store());
}

}  // namespace hum::app

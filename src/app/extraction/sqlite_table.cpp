#include "app/extraction/sqlite_table.h"

#include <algorithm>

#include "base/error.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

// Seconds since 1970.
#define HUM_NOW "((julianday('now') - 2440587.5) * 86400)"

}  // namespace

SqliteTable::SqliteTable(const fs::path& file, const Json& options, double lease_s)
    : database_(open(file, options)), lease_s_(lease_s) {}

int64_t SqliteTable::add(std::span<const FoundFile> files) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  int64_t added = 0;
  for (const FoundFile& file : files) {
    added += database_.run("INSERT OR IGNORE INTO recordings(location, bytes) VALUES(?, ?)",
                           file.location, file.bytes);
  }
  transaction.commit();
  return added;
}

int64_t SqliteTable::count_new(std::span<const FoundFile> files) {
  const std::scoped_lock lock(mutex_);
  int64_t count = 0;
  for (const FoundFile& file : files) {
    const bool is_known =
        database_.query("SELECT 1 FROM recordings WHERE location = ?", file.location).next();
    count += is_known ? 0 : 1;
  }
  return count;
}

bool SqliteTable::holds(int64_t lease) {
  return database_.query("SELECT 1 FROM leases WHERE token = ?", lease).next();
}

void SqliteTable::drop(int64_t lease) {
  database_.run("DELETE FROM leases WHERE token = ?", lease);
  database_.run("DELETE FROM shards WHERE lease = ?", lease);
}

void SqliteTable::end_old_leases() {
  std::vector<int64_t> over;
  {
    Statement rows = database_.query("SELECT token FROM leases WHERE until_s <= " HUM_NOW);
    while (rows.next()) over.push_back(rows.integer(0));
  }
  for (const int64_t lease : over) {
    database_.run(
        "UPDATE recordings SET state = 'failed', reason = ?, lease = NULL, sha256 = NULL "
        "WHERE lease = ? AND attempts >= ?",
        too_many_attempts(), lease, kMostAttempts);
    database_.run(
        "UPDATE recordings SET state = 'waiting', lease = NULL, sha256 = NULL WHERE lease = ?",
        lease);
    drop(lease);
  }
  if (!over.empty()) free_duplicates();
}

void SqliteTable::free_duplicates() {
  database_.run(
      "UPDATE recordings SET state = 'waiting', sha256 = NULL, reason = NULL, attempts = 0 "
      "WHERE state = 'duplicate' AND NOT EXISTS (SELECT 1 FROM recordings AS first "
      "WHERE first.sha256 = recordings.sha256 AND first.state IN ('claimed', 'done'))");
}

Claim SqliteTable::claim(int64_t most) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  end_old_leases();
  Claim claim;
  {
    Statement rows = database_.query(
        "SELECT number, location, attempts FROM recordings WHERE state = 'waiting' "
        "ORDER BY attempts, number LIMIT ?",
        most);
    while (rows.next()) {
      const bool is_suspect = rows.integer(2) > 0;
      if (is_suspect && !claim.recordings.empty()) break;
      claim.recordings.push_back({rows.integer(0), rows.text(1)});
      if (is_suspect) break;
    }
  }
  if (!claim.recordings.empty()) {
    database_.run("INSERT INTO leases(until_s) VALUES(" HUM_NOW " + ?)", lease_s_);
    claim.lease = database_.last_row();
  }
  for (const ClaimedRecording& recording : claim.recordings) {
    database_.run(
        "UPDATE recordings SET state = 'claimed', attempts = attempts + 1, lease = ? "
        "WHERE number = ?",
        claim.lease, recording.number);
  }
  transaction.commit();
  return claim;
}

bool SqliteTable::renew(int64_t lease) {
  const std::scoped_lock lock(mutex_);
  return database_.run("UPDATE leases SET until_s = " HUM_NOW " + ? WHERE token = ?", lease_s_,
                       lease) == 1;
}

Content SqliteTable::note_content(int64_t lease, int64_t number, const std::string& sha256) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  if (!holds(lease)) return Content::kLeaseLost;
  Statement other = database_.query(
      "SELECT 1 FROM recordings WHERE sha256 = ? AND number <> ? AND state IN ('claimed', 'done')",
      sha256, number);
  const bool is_new = !other.next();
  if (is_new) {
    database_.run("UPDATE recordings SET sha256 = ? WHERE number = ? AND lease = ?", sha256, number,
                  lease);
  } else {
    database_.run(
        "UPDATE recordings SET sha256 = ?, state = 'duplicate', lease = NULL, "
        "reason = 'another recording has the same bytes' WHERE number = ? AND lease = ?",
        sha256, number, lease);
  }
  transaction.commit();
  return is_new ? Content::kNew : Content::kDuplicate;
}

bool SqliteTable::announce(int64_t lease, const std::string& shard) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  if (!holds(lease)) return false;
  database_.run(
      "INSERT INTO shards(name, lease) VALUES(?, ?) "
      "ON CONFLICT(name) DO UPDATE SET lease = excluded.lease WHERE lease IS NOT NULL",
      shard, lease);
  transaction.commit();
  return true;
}

void SqliteTable::write(int64_t lease, const RecordingResult& result, const std::string& shard) {
  const bool has_failed = !result.failure.empty();
  const auto reason = has_failed ? std::optional(result.failure) : std::nullopt;
  const bool has_shard = !has_failed && result.windows.kept > 0;
  const int64_t written = database_.run(
      "UPDATE recordings SET state = ?, reason = ?, seconds = ?, kept = ?, silent = ?, "
      "without_notes = ?, shard = ?, lease = NULL WHERE number = ? AND lease = ?",
      to_name(has_failed ? RecordingState::kFailed : RecordingState::kDone), reason, result.seconds,
      result.windows.kept, result.windows.silent, result.windows.without_notes,
      has_shard ? std::optional(shard) : std::nullopt, result.number, lease);
  HUM_CHECK(written == 1, "recording {} is not of this claim", result.number);
}

bool SqliteTable::finish(int64_t lease, std::span<const RecordingResult> results,
                         const std::optional<data::ShardEntry>& shard) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  if (!holds(lease)) return false;
  for (const RecordingResult& result : results) write(lease, result, shard ? shard->name : "");
  const int64_t returned = database_.run(
      "UPDATE recordings SET state = 'waiting', attempts = attempts - 1, lease = NULL, "
      "sha256 = NULL WHERE lease = ?",
      lease);
  const bool has_failures = std::ranges::any_of(
      results, [](const RecordingResult& result) { return !result.failure.empty(); });
  if (returned > 0 || has_failures) free_duplicates();
  if (shard) {
    database_.run("INSERT OR REPLACE INTO shards VALUES(?, ?, ?, ?, NULL)", shard->name,
                  shard->count, shard->bytes, shard->sha256);
  }
  drop(lease);
  transaction.commit();
  return true;
}

int64_t SqliteTable::requeue_failed() {
  const std::scoped_lock lock(mutex_);
  return database_.run(
      "UPDATE recordings SET state = 'waiting', attempts = 0, sha256 = NULL, reason = NULL "
      "WHERE state = 'failed'");
}

int64_t SqliteTable::requeue_shard(const std::string& shard) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  const int64_t count = database_.run(
      "UPDATE recordings SET state = 'waiting', attempts = 0, sha256 = NULL, shard = NULL, "
      "seconds = 0, kept = 0, silent = 0, without_notes = 0 WHERE shard = ?",
      shard);
  free_duplicates();
  database_.run("DELETE FROM shards WHERE name = ? AND lease IS NULL", shard);
  transaction.commit();
  return count;
}

TableCounts SqliteTable::counts() {
  const std::scoped_lock lock(mutex_);
  TableCounts counts;
  Statement rows = database_.query(
      "SELECT state, count(*), sum(seconds), sum(kept), sum(silent), sum(without_notes) "
      "FROM recordings GROUP BY state");
  while (rows.next()) {
    counts.set(from_name<RecordingState>(rows.text(0)), rows.integer(1), rows.real(2),
               {rows.integer(3), rows.integer(4), rows.integer(5)});
  }
  return counts;
}

std::vector<SetAside> SqliteTable::set_aside() {
  const std::scoped_lock lock(mutex_);
  std::vector<SetAside> all;
  Statement rows = database_.query(
      "SELECT number, location, reason FROM recordings WHERE state = 'failed' ORDER BY number");
  while (rows.next()) all.push_back({rows.integer(0), rows.text(1), rows.text(2)});
  return all;
}

Json SqliteTable::options() {
  const std::scoped_lock lock(mutex_);
  Statement row = database_.query("SELECT made_with FROM options");
  HUM_CHECK(row.next());
  return parse_json(row.text(0));
}

void SqliteTable::with_shards(const std::function<void(std::span<const TableShard>)>& use) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(database_);
  end_old_leases();
  std::vector<TableShard> shards;
  {
    Statement rows = database_.query(
        "SELECT name, items, bytes, sha256, lease IS NULL FROM shards ORDER BY name");
    while (rows.next()) {
      shards.push_back(
          {{rows.text(0), rows.integer(1), rows.integer(2), rows.text(3)}, rows.integer(4) != 0});
    }
  }
  use(shards);
  transaction.commit();
}

}  // namespace hum::app

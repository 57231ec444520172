// The list of shards of PostgresTable. Who announces or lists a shard shares it; who uses the whole
// list, or shortens it, has it alone, perhaps for minutes.
#include <algorithm>

#include "app/extraction/postgres_table.h"
#include "base/error.h"
#include "base/http.h"
#include "base/log.h"

namespace hum::app {
namespace {

constexpr std::chrono::milliseconds kPauseForList{300};

constexpr const char* kTryToShareList =
    "SELECT pg_try_advisory_xact_lock_shared(hashtext('hum.shards'), $1::integer)";
constexpr const char* kTryToLockList =
    "SELECT pg_try_advisory_xact_lock(hashtext('hum.shards'), $1::integer)";
constexpr const char* kLockList =
    "SELECT pg_advisory_xact_lock(hashtext('hum.shards'), $1::integer)";

Json to_json(std::span<const RecordingResult> results) {
  Json rows = Json::array();
  for (const RecordingResult& result : results) {
    Json row = {{"number", result.number},
                {"seconds", result.seconds},
                {"kept", result.windows.kept},
                {"silent", result.windows.silent},
                {"without_notes", result.windows.without_notes}};
    if (!result.failure.empty()) row["reason"] = result.failure;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

// Tries again and again, without the mutex in between, so that the lease is renewed meanwhile.
bool PostgresTable::share_list(const std::function<bool()>& body) {
  for (;; pause(jittered(kPauseForList), {})) {
    const std::scoped_lock lock(mutex_);
    bool is_held = false;
    const bool has_run = database_.transact([&] {
      if (!database_.query(kTryToShareList, job_).boolean(0, 0)) return false;
      is_held = body();
      return true;
    });
    if (has_run) return is_held;
  }
}

// However long others use it: what they hold ends with their connection.
void PostgresTable::lock_list() {
  if (database_.query(kTryToLockList, job_).boolean(0, 0)) return;
  spdlog::info("waiting for another process, which uses the list of shards");
  database_.query("SET LOCAL lock_timeout = 0");
  database_.query(kLockList, job_);
}

bool PostgresTable::announce(int64_t lease, const std::string& shard) {
  return share_list([&] {
    if (!holds(lease)) return false;
    database_.query(
        "INSERT INTO hum.shards AS known(job, name, lease) VALUES($1, $2, $3) "
        "ON CONFLICT (job, name) DO UPDATE SET lease = excluded.lease "
        "WHERE known.lease IS NOT NULL",
        job_, shard, lease);
    return true;
  });
}

void PostgresTable::write(int64_t lease, std::span<const RecordingResult> results,
                          const std::string& shard) {
  const PostgresRows written = database_.query(
      "UPDATE hum.recordings AS recording SET "
      "state = CASE WHEN result.reason IS NULL THEN 'done' ELSE 'failed' END, "
      "reason = result.reason, seconds = result.seconds, kept = result.kept, "
      "silent = result.silent, without_notes = result.without_notes, "
      "shard = CASE WHEN result.reason IS NULL AND result.kept > 0 THEN $2::text END, "
      "lease = NULL "
      "FROM json_to_recordset($3::json) AS result(number bigint, reason text, "
      "seconds double precision, kept bigint, silent bigint, without_notes bigint) "
      "WHERE recording.number = result.number AND recording.lease = $1 "
      "RETURNING key, state",
      lease, shard, to_text(to_json(results)));
  HUM_CHECK(written.size() == std::ssize(results), "{} of {} recordings are of this claim",
            written.size(), results.size());
  write_back(database_, write_back_sql_, written);
}

bool PostgresTable::was_committed(std::span<const RecordingResult> results,
                                  const std::string& shard) {
  return !results.empty() &&
         database_
                 .query(
                     "SELECT 1 FROM json_to_recordset($1::json) AS result(number bigint, "
                     "reason text, kept bigint) JOIN hum.recordings AS recording "
                     "ON recording.number = result.number "
                     "AND recording.reason IS NOT DISTINCT FROM result.reason "
                     "AND recording.shard IS NOT DISTINCT FROM "
                     "CASE WHEN result.reason IS NULL AND result.kept > 0 THEN $2::text END "
                     "AND recording.state IN ('done', 'failed')",
                     to_text(to_json(results)), shard)
                 .size() == std::ssize(results);
}

bool PostgresTable::finish(int64_t lease, std::span<const RecordingResult> results,
                           const std::optional<data::ShardEntry>& shard) {
  const std::string name = shard ? shard->name : "";
  return share_list([&] {
    // Without the lease, an earlier run of this transaction may have been committed.
    if (!holds(lease)) return was_committed(results, name);
    const std::vector<int64_t> leases = {lease};
    const std::string hashes = hashes_of(leases);
    if (!results.empty()) write(lease, results, name);
    const int64_t returned =
        database_
            .query(
                "UPDATE hum.recordings SET state = 'waiting', attempts = attempts - 1, "
                "lease = NULL, sha256 = NULL WHERE lease = $1",
                lease)
            .changed();
    if (shard) {
      database_.query(
          "INSERT INTO hum.shards VALUES($1, $2, $3, $4, $5, NULL) "
          "ON CONFLICT (job, name) DO UPDATE SET items = excluded.items, bytes = excluded.bytes, "
          "sha256 = excluded.sha256, lease = NULL",
          job_, shard->name, shard->count, shard->bytes, shard->sha256);
    }
    drop(leases);
    const bool has_failures = std::ranges::any_of(
        results, [](const RecordingResult& result) { return !result.failure.empty(); });
    if (returned > 0 || has_failures) free_duplicates(hashes);
    return true;
  });
}

int64_t PostgresTable::requeue_shard(const std::string& shard) {
  const std::scoped_lock lock(mutex_);
  return database_.transact([&] {
    // Alone: a process that lists the same shard meanwhile would lose its entry.
    lock_list();
    const std::string hashes =
        database_
            .query(
                "SELECT coalesce(array_agg(sha256), '{}') FROM hum.recordings "
                "WHERE job = $1 AND shard = $2",
                job_, shard)
            .text(0, 0);
    const int64_t count =
        database_
            .query(
                "UPDATE hum.recordings SET state = 'waiting', attempts = 0, sha256 = NULL, "
                "shard = NULL, seconds = 0, kept = 0, silent = 0, without_notes = 0 "
                "WHERE job = $1 AND shard = $2",
                job_, shard)
            .changed();
    free_duplicates(hashes);
    database_.query("DELETE FROM hum.shards WHERE job = $1 AND name = $2 AND lease IS NULL", job_,
                    shard);
    return count;
  });
}

void PostgresTable::with_shards(const std::function<void(std::span<const TableShard>)>& use) {
  const std::scoped_lock lock(mutex_);
  database_.transact([&] {
    lock_list();
    end_old_leases();
    const PostgresRows rows = database_.query(
        "SELECT name, items, bytes, sha256, lease IS NULL FROM hum.shards WHERE job = $1 "
        "ORDER BY name COLLATE \"C\"",
        job_);
    std::vector<TableShard> shards;
    for (int64_t i = 0; i < rows.size(); ++i) {
      shards.push_back({{rows.text(i, 0), rows.integer(i, 1), rows.integer(i, 2), rows.text(i, 3)},
                        rows.boolean(i, 4)});
    }
    use(shards);
  });
}

// Within the transaction of with_shards(), which has ended if this fails.
void PostgresTable::require_alone() { database_.query("SELECT 1"); }

}  // namespace hum::app

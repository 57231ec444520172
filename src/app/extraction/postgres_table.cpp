// Transactions lock in this order, so that they do not wait for each other: the list of shards, a
// lease, recordings. Only the holder of a lease's lock changes recordings that are claimed under
// it.
#include "app/extraction/postgres_table.h"

#include "base/error.h"

namespace hum::app {
namespace {

// Then urgent recordings that were added behind the cursor are seen.
constexpr std::chrono::seconds kCursorLasts{30};

constexpr const char* kPickFresh =
    "SELECT number, location, reference, licence, rank FROM hum.recordings "
    "WHERE job = $1 AND state = 'waiting' AND attempts = 0 AND (rank, number) > ($2, $3) "
    "ORDER BY rank, number LIMIT $4 FOR UPDATE SKIP LOCKED";
constexpr const char* kPickSuspect =
    "SELECT number, location, reference, licence, rank FROM hum.recordings "
    "WHERE job = $1 AND state = 'waiting' AND attempts > 0 "
    "ORDER BY attempts, rank, number LIMIT 1 FOR UPDATE SKIP LOCKED";

}  // namespace

PostgresRows PostgresTable::pick(int64_t most) {
  const auto fresh = [&] {
    return database_.query(kPickFresh, job_, cursor_.rank, cursor_.number, most);
  };
  if (Clock::now() - cursor_since_ > kCursorLasts) cursor_ = {};
  if (cursor_.number == 0) cursor_since_ = Clock::now();
  PostgresRows rows = fresh();
  if (rows.size() < most && cursor_.number != 0) {  // some may have been returned
    cursor_ = {};
    cursor_since_ = Clock::now();
    rows = fresh();
  }
  if (rows.size() == 0) return database_.query(kPickSuspect, job_);
  cursor_ = {rows.real(rows.size() - 1, 4), rows.integer(rows.size() - 1, 0)};
  return rows;
}

Claim PostgresTable::claim(int64_t most) {
  const std::scoped_lock lock(mutex_);
  return database_.transact([&] {
    end_old_leases();
    const PostgresRows picked = pick(most);
    Claim claim;
    if (picked.size() == 0) return claim;
    claim.lease = database_
                      .query(
                          "INSERT INTO hum.leases(job, until) "
                          "VALUES($1, clock_timestamp() + make_interval(secs => $2)) "
                          "RETURNING token",
                          job_, lease_s_)
                      .integer(0, 0);
    database_.query(
        "UPDATE hum.recordings SET state = 'claimed', attempts = attempts + 1, lease = $1 "
        "WHERE number = ANY($2)",
        claim.lease, picked.integers());
    for (int64_t i = 0; i < picked.size(); ++i) {
      claim.recordings.push_back(
          {picked.integer(i, 0), picked.text(i, 1), picked.text(i, 2), picked.text(i, 3)});
    }
    return claim;
  });
}

bool PostgresTable::renew(int64_t lease) {
  const std::scoped_lock lock(mutex_);
  return database_.transact([&] {
    return database_
               .query(
                   "UPDATE hum.leases SET until = clock_timestamp() + make_interval(secs => $2) "
                   "WHERE token = $1",
                   lease, lease_s_)
               .changed() == 1;
  });
}

bool PostgresTable::holds(int64_t lease) {
  return database_.query("SELECT 1 FROM hum.leases WHERE token = $1 FOR UPDATE", lease).size() == 1;
}

void PostgresTable::end_old_leases() {
  const std::vector<int64_t> over =
      database_
          .query(
              "SELECT token FROM hum.leases WHERE job = $1 AND until <= clock_timestamp() "
              "FOR UPDATE SKIP LOCKED",
              job_)
          .integers();
  if (over.empty()) return;
  const std::string hashes = hashes_of(over);
  write_back(database_, write_back_sql_,
             database_.query(
                 "WITH ended AS (UPDATE hum.recordings SET "
                 "state = CASE WHEN attempts >= $2 THEN 'failed' ELSE 'waiting' END, "
                 "reason = CASE WHEN attempts >= $2 THEN $3::text END, lease = NULL, sha256 = NULL "
                 "WHERE lease = ANY($1) RETURNING key, state) "
                 "SELECT key, state FROM ended WHERE state = 'failed'",
                 over, kMostAttempts, too_many_attempts()));
  drop(over);
  free_duplicates(hashes);
}

std::string PostgresTable::hashes_of(const std::vector<int64_t>& leases) {
  return database_
      .query(
          "SELECT coalesce(array_agg(sha256), '{}') FROM hum.recordings "
          "WHERE lease = ANY($1) AND sha256 IS NOT NULL",
          leases)
      .text(0, 0);
}

void PostgresTable::free_duplicates(const std::string& hashes) {
  database_.query(
      "UPDATE hum.recordings AS other SET state = 'waiting', sha256 = NULL, reason = NULL, "
      "attempts = 0 WHERE job = $1 AND state = 'duplicate' AND sha256 = ANY($2::text[]) "
      "AND NOT EXISTS (SELECT 1 FROM hum.recordings AS first WHERE first.job = $1 "
      "AND first.sha256 = other.sha256 AND first.state IN ('claimed', 'done'))",
      job_, hashes);
}

void PostgresTable::drop(const std::vector<int64_t>& leases) {
  database_.query("DELETE FROM hum.leases WHERE token = ANY($1)", leases);
  database_.query("DELETE FROM hum.shards WHERE lease = ANY($1)", leases);
}

Content PostgresTable::note_content(int64_t lease, int64_t number, const std::string& sha256) {
  const std::scoped_lock lock(mutex_);
  return database_.transact([&] {
    if (!holds(lease)) return Content::kLeaseLost;
    // One process at a time notes a hash.
    database_.query("SELECT pg_advisory_xact_lock(hashtextextended($1, $2))", sha256, job_);
    // What ends the first one meanwhile waits, and then sees the duplicate.
    const bool is_new = database_
                            .query(
                                "SELECT 1 FROM hum.recordings WHERE job = $1 AND sha256 = $2 "
                                "AND number <> $3 AND state IN ('claimed', 'done') FOR SHARE",
                                job_, sha256, number)
                            .size() == 0;
    if (is_new) {
      database_.query("UPDATE hum.recordings SET sha256 = $1 WHERE number = $2 AND lease = $3",
                      sha256, number, lease);
    } else {
      write_back(
          database_, write_back_sql_,
          database_.query(
              "UPDATE hum.recordings SET sha256 = $1, state = 'duplicate', lease = NULL, "
              "reason = 'another recording has the same bytes' WHERE number = $2 AND lease = $3 "
              "RETURNING key, state",
              sha256, number, lease));
    }
    return is_new ? Content::kNew : Content::kDuplicate;
  });
}

int64_t PostgresTable::requeue_failed() {
  const std::scoped_lock lock(mutex_);
  return database_.transact([&] {
    return database_
        .query(
            "UPDATE hum.recordings SET state = 'waiting', attempts = 0, sha256 = NULL, "
            "reason = NULL WHERE job = $1 AND state = 'failed'",
            job_)
        .changed();
  });
}

TableCounts PostgresTable::counts() {
  const std::scoped_lock lock(mutex_);
  return database_.transact([&] {
    const PostgresRows rows = database_.query(
        "SELECT state, sum(recordings)::bigint, sum(seconds), sum(kept)::bigint, "
        "sum(silent)::bigint, sum(without_notes)::bigint "
        "FROM hum.counts WHERE job = $1 GROUP BY state",
        job_);
    TableCounts counts;
    for (int64_t i = 0; i < rows.size(); ++i) {
      counts.set(from_name<RecordingState>(rows.text(i, 0)), rows.integer(i, 1), rows.real(i, 2),
                 {rows.integer(i, 3), rows.integer(i, 4), rows.integer(i, 5)});
    }
    return counts;
  });
}

std::vector<SetAside> PostgresTable::set_aside() {
  const std::scoped_lock lock(mutex_);
  return database_.transact([&] {
    const PostgresRows rows = database_.query(
        "SELECT number, location, reason FROM hum.recordings "
        "WHERE job = $1 AND state = 'failed' ORDER BY number",
        job_);
    std::vector<SetAside> all;
    for (int64_t i = 0; i < rows.size(); ++i) {
      all.push_back({rows.integer(i, 0), rows.text(i, 1), rows.text(i, 2)});
    }
    return all;
  });
}

Json PostgresTable::options() {
  const std::scoped_lock lock(mutex_);
  return database_.transact([&] {
    return parse_json(
        database_.query("SELECT made_with FROM hum.jobs WHERE job = $1", job_).text(0, 0));
  });
}

}  // namespace hum::app

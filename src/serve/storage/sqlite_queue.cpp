// The queue of SqliteRecords: leases, attempts, dead letters.
#include <algorithm>
#include <map>

#include "base/error.h"
#include "serve/storage/sqlite_records.h"
#include "serve/storage/sqlite_rows_impl.h"

namespace hum::serve {
namespace {

constexpr const char* kHeld = " WHERE id = ? AND owner = ? AND attempts = ? AND status = 'running'";

// Names its indexes: without them SQLite may read all jobs of a caller, most of which have ended.
constexpr const char* kNextDue = R"sql(
SELECT j.number, j.caller, j.attempts FROM jobs AS j INDEXED BY waiting_jobs
WHERE j.status = 'queued' AND j.due_ms <= ? AND j.work_s <= ?
ORDER BY
  (SELECT count(*) FROM jobs AS r INDEXED BY running_jobs
   WHERE r.status = 'running' AND r.caller = j.caller),
  j.task <> 'notes',
  coalesce((SELECT t.number FROM turns AS t WHERE t.caller = j.caller), 0),
  j.number
LIMIT 1)sql";

}  // namespace

std::map<std::string, JobState> SqliteRecords::queued() {
  struct Queued {
    std::string id;
    int64_t version, rank;  // rank: among those of the caller
  };
  std::vector<Queued> queued;
  std::map<std::string, int64_t> waiting;  // by caller
  Statement rows = durable_.query(
      "SELECT id, version, caller FROM jobs INDEXED BY waiting_jobs WHERE status = 'queued' "
      "ORDER BY number");
  while (rows.next()) queued.push_back({rows.text(0), rows.integer(1), ++waiting[rows.text(2)]});
  std::map<std::string, JobState> states;
  for (const auto& [id, version, rank] : queued) states[id] = {version, place_of(rank, waiting)};
  return states;
}

std::map<std::string, int64_t> SqliteRecords::waiting_by_caller() {
  std::map<std::string, int64_t> waiting;
  Statement rows = durable_.query(
      "SELECT caller, count(*) FROM jobs INDEXED BY waiting_jobs WHERE status = 'queued' "
      "GROUP BY caller");
  while (rows.next()) waiting[rows.text(0)] = rows.integer(1);
  return waiting;
}

int64_t SqliteRecords::position(const Job& job) {
  const std::scoped_lock lock(mutex_);
  const int64_t rank = first_integer(
      durable_.query("SELECT count(*) FROM jobs INDEXED BY waiting_jobs "
                     "WHERE status = 'queued' AND number <= ? AND caller = ? AND EXISTS "
                     "(SELECT 1 FROM jobs AS own WHERE own.number = ? AND own.status = 'queued')",
                     job.number, job.request.caller, job.number));
  return place_of(rank, waiting_by_caller());
}

std::map<std::string, JobState> SqliteRecords::states(const std::vector<std::string>& ids) {
  const std::scoped_lock lock(mutex_);
  auto waiting = queued();
  std::map<std::string, JobState> states;
  for (const std::string& id : ids) {
    if (const auto found = waiting.find(id); found != waiting.end()) {
      states.insert(*found);
    } else if (Statement row = durable_.query("SELECT version FROM jobs WHERE id = ?", id);
               row.next()) {
      states[id] = {row.integer(0), 0};
    }
  }
  return states;
}

bool SqliteRecords::any_due(double most_work_s) {
  const std::scoped_lock lock(mutex_);
  return durable_
      .query("SELECT 1 FROM jobs WHERE status = 'queued' AND due_ms <= ? AND work_s <= ? LIMIT 1",
             now_ms(), most_work_s)
      .next();
}

bool SqliteRecords::may_share(const std::string& owner, int64_t attempts) {
  // Those of its jobs that run count this attempt too. 0: it has none.
  const int64_t most =
      first_integer(durable_.query("SELECT max(attempts) FROM jobs INDEXED BY running_jobs WHERE "
                                   "status = 'running' AND owner = ?",
                                   owner));
  if (most == 0) return true;
  return attempts < rules_.shared_attempts && most <= rules_.shared_attempts;
}

std::optional<std::pair<Job, Lease>> SqliteRecords::claim(const std::string& owner,
                                                          double most_work_s) {
  if (!any_due(most_work_s)) return std::nullopt;  // an idle worker only reads
  const std::scoped_lock lock(mutex_);
  const int64_t now = now_ms();
  Transaction transaction(durable_);
  Statement next = durable_.query(kNextDue, now, most_work_s);
  if (!next.next()) return std::nullopt;
  if (!may_share(owner, next.integer(2))) return std::nullopt;
  const int64_t number = next.integer(0);
  durable_.run(
      "INSERT OR REPLACE INTO turns VALUES(?, (SELECT coalesce(max(number), 0) + 1 FROM turns))",
      next.text(1));
  durable_.run(
      "UPDATE jobs SET status = 'running', owner = ?, lease_until_ms = ?, attempts = attempts + 1, "
      "stage = '', progress = 0, seconds_left = NULL, error = NULL, version = version + 1 "
      "WHERE number = ?",
      owner, now + rules_.lease.count(), number);
  Statement row = durable_.query(std::string(kSelectJobs) + " WHERE j.number = ?", number);
  HUM_CHECK(row.next());
  Job job = job_of(row);
  transaction.commit();
  Lease lease{job.request.id, owner, job.attempts};
  return std::pair(std::move(job), std::move(lease));
}

bool SqliteRecords::renew(const Lease& lease) {
  const std::scoped_lock lock(mutex_);
  return quick_.run(std::string("UPDATE jobs SET lease_until_ms = ?") + kHeld,
                    now_ms() + rules_.lease.count(), lease.job, lease.owner, lease.attempt) == 1;
}

bool SqliteRecords::progress(const Lease& lease, const Progress& progress) {
  const std::scoped_lock lock(mutex_);
  // An earlier attempt may have left a longer stream, which is still there.
  return quick_.run(std::string("UPDATE jobs SET stage = ?, progress = ?, seconds_left = ?, "
                                "bytes = max(bytes, ?), version = version + 1") +
                        kHeld,
                    progress.stage, progress.progress, progress.seconds_left, progress.stream_bytes,
                    lease.job, lease.owner, lease.attempt) == 1;
}

bool SqliteRecords::holds(const Lease& lease) {
  return durable_
      .query(std::string("SELECT 1 FROM jobs") + kHeld, lease.job, lease.owner, lease.attempt)
      .next();
}

bool SqliteRecords::set_heard(const Lease& lease, const Json& heard) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(durable_);
  if (!holds(lease)) return false;
  durable_.run("UPDATE documents SET heard = ? WHERE job = ?", to_text(heard), lease.job);
  durable_.run("UPDATE jobs SET version = version + 1 WHERE id = ?", lease.job);
  transaction.commit();
  return true;
}

void SqliteRecords::end(const std::string& job, Status status, const Json& results,
                        const Json& error) {
  const int64_t now = now_ms();
  const int is_done = status == Status::kDone ? 1 : 0;
  int64_t bytes = 0;
  for (const Json& result : results) bytes += result.value("bytes", int64_t{0});
  // The stream of a failed job is of no use; remove_orphans() removes it.
  durable_.run(
      "UPDATE jobs SET status = ?, results = ?, bytes = iif(?, bytes + ?, 0), error = ?, "
      "stage = '', seconds_left = NULL, progress = ?, ended_ms = ?, expires_ms = ?, owner = NULL, "
      "lease_until_ms = NULL, version = version + 1 WHERE id = ?",
      to_name(status), to_text(results), is_done, bytes, or_null(error), is_done, now,
      now + rules_.keep_results.count(), job);
}

bool SqliteRecords::finish(const Lease& lease, const Json& results) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(durable_);
  if (!holds(lease)) return false;
  end(lease.job, Status::kDone, results, Json());
  transaction.commit();
  return true;
}

bool SqliteRecords::fail_job(const Lease& lease, const Json& error) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(durable_);
  if (!holds(lease)) return false;
  end(lease.job, Status::kFailed, Json::array(), error);
  transaction.commit();
  return true;
}

bool SqliteRecords::requeue(const std::string& job, int64_t attempts, const Json& error,
                            const std::string& reason) {
  const int64_t now = now_ms();
  if (attempts >= rules_.max_attempts) {
    end(job, Status::kFailed, Json::array(), error);
    durable_.run("INSERT OR REPLACE INTO dead_letters VALUES(?, ?, ?, ?)", job, reason, attempts,
                 now);
    return true;
  }
  constexpr int64_t kMostDoublings = 16;
  const int64_t doublings = std::clamp<int64_t>(attempts - 1, 0, kMostDoublings);
  durable_.run(
      "UPDATE jobs SET status = 'queued', owner = NULL, lease_until_ms = NULL, stage = '', "
      "progress = 0, seconds_left = NULL, due_ms = ?, version = version + 1 WHERE id = ?",
      now + std::min(rules_.first_backoff.count() << doublings, rules_.longest_backoff.count()),
      job);
  return false;
}

bool SqliteRecords::retry(const Lease& lease, const Json& error, const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(durable_);
  if (!holds(lease)) return false;
  requeue(lease.job, lease.attempt, error, reason);
  transaction.commit();
  return true;
}

bool SqliteRecords::return_unbegun(const Lease& lease, int64_t due_ms) {
  const std::scoped_lock lock(mutex_);
  return durable_.run(
             std::string("UPDATE jobs SET status = 'queued', owner = NULL, lease_until_ms = NULL, "
                         "attempts = attempts - 1, stage = '', progress = 0, seconds_left = NULL, "
                         "due_ms = ?, version = version + 1") +
                 kHeld,
             due_ms, lease.job, lease.owner, lease.attempt) == 1;
}

bool SqliteRecords::postpone(const Lease& lease) {
  return return_unbegun(lease, now_ms() + rules_.longest_backoff.count());
}

bool SqliteRecords::give_back(const Lease& lease) { return return_unbegun(lease, 0); }

std::vector<DeadLetter> SqliteRecords::dead_letters() {
  const std::scoped_lock lock(mutex_);
  std::vector<DeadLetter> letters;
  Statement rows =
      durable_.query("SELECT job, reason, attempts, at_ms FROM dead_letters ORDER BY at_ms");
  while (rows.next()) {
    letters.push_back({rows.text(0), rows.text(1), rows.integer(2), rows.integer(3)});
  }
  return letters;
}

}  // namespace hum::serve

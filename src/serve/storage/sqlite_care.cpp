// SqliteRecords keeps itself in order: dead workers, expired records, waiting for changes.
#include <chrono>
#include <thread>

#include "base/error.h"
#include "serve/storage/sqlite_records.h"
#include "serve/storage/sqlite_rows_impl.h"

namespace hum::serve {
namespace {

constexpr std::chrono::milliseconds kPoll{20};

struct Running {
  std::string job, owner;
  int64_t attempts, lease_until_ms;
};

std::vector<Running> running_jobs(Database& database) {
  std::vector<Running> jobs;
  Statement rows = database.query(
      "SELECT id, owner, attempts, lease_until_ms FROM jobs WHERE status = 'running'");
  while (rows.next()) {
    jobs.push_back({rows.text(0), rows.text(1), rows.integer(2), rows.integer(3)});
  }
  return jobs;
}

std::vector<std::string> ids(Statement rows) {
  std::vector<std::string> found;
  while (rows.next()) found.push_back(rows.text(0));
  return found;
}

}  // namespace

Swept SqliteRecords::sweep(const std::function<bool(const std::string& owner)>& is_dead) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(durable_);
  Swept swept;
  const int64_t now = now_ms();
  for (const Running& one : running_jobs(durable_)) {
    const bool is_late = one.lease_until_ms <= now;
    if (!is_late && !is_dead(one.owner)) continue;
    const std::string reason = is_late ? "its worker stopped to report" : "its worker died";
    const bool is_given_up = requeue(one.job, one.attempts, given_up_error(), reason);
    (is_given_up ? swept.dead : swept.requeued) += 1;
  }
  swept.removed_jobs = ids(durable_.query("SELECT id FROM jobs WHERE expires_ms <= ?", now));
  for (const std::string& job : swept.removed_jobs) forget(job);
  swept.removed_uploads = delete_expired_uploads();
  durable_.run("DELETE FROM idempotency_keys WHERE created_ms <= ?",
               now - rules_.keep_keys.count());
  durable_.run(
      "DELETE FROM turns WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.caller = turns.caller)");
  durable_.run("DELETE FROM usage WHERE at_ms <= ?", now - kHour_ms);
  durable_.run("DELETE FROM workers WHERE seen_ms <= ?", now - rules_.lease.count());
  for (const std::string& owner : ids(durable_.query("SELECT owner FROM workers"))) {
    if (is_dead(owner)) durable_.run("DELETE FROM workers WHERE owner = ?", owner);
  }
  transaction.commit();
  if (has_deleted_) has_deleted_ = !durable_.empty_log();
  return swept;
}

Counts SqliteRecords::counts() {
  const std::scoped_lock lock(mutex_);
  Counts counts;
  Statement rows = durable_.query("SELECT status, count(*) FROM jobs GROUP BY status");
  while (rows.next()) {
    const auto status = from_name<Status>(rows.text(0));
    const int64_t count = rows.integer(1);
    if (status == Status::kQueued) counts.queued = count;
    if (status == Status::kRunning) counts.running = count;
    if (status == Status::kDone) counts.done = count;
    if (status == Status::kFailed) counts.failed = count;
  }
  counts.uploads = first_integer(durable_.query("SELECT count(*) FROM uploads"));
  counts.dead_letters = first_integer(durable_.query("SELECT count(*) FROM dead_letters"));
  return counts;
}

void SqliteRecords::report_worker(const WorkerInfo& worker) {
  const std::scoped_lock lock(mutex_);
  quick_.run("INSERT OR REPLACE INTO workers VALUES(?, ?, ?)", worker.owner,
             worker.is_ready ? 1 : 0, now_ms());
}

std::vector<WorkerInfo> SqliteRecords::workers() {
  const std::scoped_lock lock(mutex_);
  std::vector<WorkerInfo> workers;
  Statement rows =
      durable_.query("SELECT owner, is_ready FROM workers WHERE seen_ms > ? ORDER BY owner",
                     now_ms() - rules_.lease.count());
  while (rows.next()) workers.push_back({rows.text(0), rows.integer(1) != 0});
  return workers;
}

void SqliteRecords::forget_worker(const std::string& owner) {
  const std::scoped_lock lock(mutex_);
  quick_.run("DELETE FROM workers WHERE owner = ?", owner);
}

int64_t SqliteRecords::data_version() {
  return first_integer(durable_.query("PRAGMA data_version"));
}

bool SqliteRecords::wait_for_change(std::chrono::milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (true) {
    {
      const std::scoped_lock lock(mutex_);
      const int64_t version = data_version();
      if (version != seen_version_) {
        seen_version_ = version;
        return true;
      }
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace hum::serve

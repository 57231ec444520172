// Quotas of SqliteRecords: what a caller uses, and which limit it has reached.
#include "base/bytes.h"
#include "base/error.h"
#include "serve/storage/sqlite_records.h"
#include "serve/storage/sqlite_rows_impl.h"

namespace hum::serve {
namespace {

constexpr int64_t kRetryJobs_s = 10, kRetryBytes_s = 600;

// The plus keeps the planner to the short indexes of unfinished jobs.
constexpr const char* kUnfinished =
    "SELECT (SELECT count(*) FROM jobs WHERE status = 'queued' AND +caller = ?) + "
    "(SELECT count(*) FROM jobs WHERE status = 'running' AND +caller = ?)";

constexpr const char* kBytes =
    "SELECT (SELECT coalesce(sum(bytes), 0) FROM jobs WHERE caller = ?) + "
    "(SELECT coalesce(sum(bytes), 0) FROM uploads WHERE caller = ?)";

}  // namespace

std::optional<ReachedLimit> SqliteRecords::reached_limit(const std::string& caller, bool is_job) {
  const std::scoped_lock lock(mutex_);
  return limit_of(caller, is_job);
}

std::optional<ReachedLimit> SqliteRecords::limit_of(const std::string& caller, bool is_job) {
  if (!rules_.quota_of) return std::nullopt;
  const Quota quota = rules_.quota_of(caller);
  if (is_job && quota.jobs > 0) {
    const int64_t jobs = first_integer(durable_.query(kUnfinished, caller, caller));
    if (jobs >= quota.jobs) {
      return ReachedLimit{
          "jobs",
          fmt::format("{} of your jobs wait or run; this key may have {}", jobs, quota.jobs),
          "wait until one has ended, or remove one", kRetryJobs_s};
    }
  }
  if (is_job && quota.seconds_per_hour > 0) {
    if (auto limit = hourly_limit(caller, quota.seconds_per_hour)) return limit;
  }
  if (quota.bytes == 0) return std::nullopt;
  const int64_t bytes = first_integer(durable_.query(kBytes, caller, caller));
  if (bytes < quota.bytes) return std::nullopt;
  return ReachedLimit{"bytes",
                      fmt::format("your uploads and results have {}; this key may keep {}",
                                  format_bytes(bytes), format_bytes(quota.bytes)),
                      "remove jobs or uploads that you no longer need", kRetryBytes_s};
}

std::optional<ReachedLimit> SqliteRecords::hourly_limit(const std::string& caller, double seconds) {
  const int64_t now = now_ms();
  Statement rows = durable_.query(
      "SELECT at_ms, seconds FROM usage WHERE caller = ? AND at_ms > ? ORDER BY at_ms DESC", caller,
      now - kHour_ms);
  double used = 0;
  while (rows.next()) {
    used += rows.real(1);
    if (used < seconds) continue;
    // The sum is below the limit again when this job is an hour old.
    const int64_t wait_ms = rows.integer(0) + kHour_ms - now;
    return ReachedLimit{"seconds_per_hour",
                        fmt::format("your jobs of the last hour make at least {:.0f} s of sound; "
                                    "this key may make {:.0f} s",
                                    used, seconds),
                        "try again later, or send shorter recordings with fewer takes",
                        wait_ms / 1000 + 1};
  }
  return std::nullopt;
}

void SqliteRecords::count_use(const JobRequest& job) {
  if (!rules_.quota_of) return;
  durable_.run("INSERT INTO usage SELECT caller, ?, work_s FROM jobs WHERE id = ?", now_ms(),
               job.id);
}

}  // namespace hum::serve

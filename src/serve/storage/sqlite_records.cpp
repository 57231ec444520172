#include "serve/storage/sqlite_records.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "serve/storage/sqlite_rows_impl.h"
#include "serve/storage/sqlite_schema.h"

namespace hum::serve {

namespace fs = std::filesystem;

namespace {

// JobRequest::work_s. Its uploads are there already.
double work_of(Database& database, const JobRequest& job) {
  double length_s = 0;
  if (job.notes.is_null()) {
    Statement row = database.query("SELECT seconds FROM uploads WHERE id = ?", job.upload);
    if (row.next()) length_s = row.real(0);
  } else {
    for (const Json& note : job.notes) length_s = std::max(length_s, note["end"].get<double>());
  }
  return length_s * job.options.value("takes", 1.0);
}

Acceptance refused_by(ReachedLimit limit) {
  return {Acceptance::kOverQuota, "", 0, "", std::move(limit)};
}

}  // namespace

int64_t now_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

std::string new_id() {
  std::array<unsigned char, 16> bytes{};
  HUM_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Json given_up_error() {
  return {{"title", "The job was given up"},
          {"detail", "hum failed at it several times"},
          {"hint",
           "send it again later; if it fails again, its recording or options trigger a fault in "
           "hum: please report it"}};
}

SqliteRecords::SqliteRecords(const fs::path& file, const QueueRules& rules)
    : rules_(rules),
      durable_(open_records(file)),
      quick_(file, false),
      seen_version_(data_version()) {}

// ---- Keys ----

std::optional<Acceptance> SqliteRecords::earlier_use(const std::string& caller,
                                                     const IdempotencyKey& key) {
  Statement row = durable_.query(
      "SELECT fingerprint, subject, position FROM idempotency_keys WHERE caller = ? AND key = ?",
      caller, key.key);
  if (!row.next()) return std::nullopt;
  if (row.text(0) != key.fingerprint) return Acceptance{Acceptance::kOtherRequest, "", 0, ""};
  return Acceptance{Acceptance::kRepeated, row.text(1), row.integer(2), ""};
}

std::optional<Acceptance> SqliteRecords::earlier(const std::string& caller,
                                                 const IdempotencyKey& key) {
  const std::scoped_lock lock(mutex_);
  return earlier_use(caller, key);
}

void SqliteRecords::remember(const std::string& caller, const IdempotencyKey& key,
                             const std::string& subject, int64_t position) {
  durable_.run("INSERT INTO idempotency_keys VALUES(?, ?, ?, ?, ?, ?)", caller, key.key,
               key.fingerprint, subject, position, now_ms());
}

// ---- Uploads ----

void SqliteRecords::insert(const Upload& upload) {
  durable_.run("INSERT INTO uploads VALUES(?, ?, ?, ?, ?, ?, ?, ?)", upload.id, upload.caller,
               or_null(upload.job), upload.seconds, to_text(upload.source), upload.created_ms,
               upload.expires_ms, upload.bytes);
}

Acceptance SqliteRecords::add_upload(const Upload& upload,
                                     const std::optional<IdempotencyKey>& key) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(durable_);
  if (key) {
    if (auto found = earlier_use(upload.caller, *key)) return *found;
  }
  if (auto limit = limit_of(upload.caller, /*is_job=*/false)) return refused_by(std::move(*limit));
  if (key) remember(upload.caller, *key, upload.id, 0);
  insert(upload);
  transaction.commit();
  return {Acceptance::kAccepted, upload.id, 0, ""};
}

std::optional<Upload> SqliteRecords::any_upload(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  Statement row = durable_.query(
      "SELECT id, caller, job, seconds, source, created_ms, expires_ms, bytes FROM uploads "
      "WHERE id = ?",
      id);
  if (!row.next()) return std::nullopt;
  return Upload{row.text(0),    row.text(1),    row.text(2),   row.real(3), parse_json(row.text(4)),
                row.integer(5), row.integer(6), row.integer(7)};
}

std::optional<Upload> SqliteRecords::upload(const std::string& caller, const std::string& id) {
  auto found = any_upload(id);
  if (!found || found->caller != caller || found->expires_ms <= now_ms()) return std::nullopt;
  return found;
}

std::vector<std::string> SqliteRecords::delete_expired_uploads() {
  std::vector<std::string> ids;
  Statement rows = durable_.query(R"sql(
    DELETE FROM uploads WHERE expires_ms <= ? AND id NOT IN (
      SELECT upload FROM jobs WHERE status IN ('queued', 'running') AND upload IS NOT NULL
      UNION ALL
      SELECT timbre FROM jobs WHERE status IN ('queued', 'running') AND timbre IS NOT NULL
      UNION ALL
      SELECT backing FROM jobs WHERE status IN ('queued', 'running') AND backing IS NOT NULL)
    RETURNING id)sql",
                                  now_ms());
  while (rows.next()) ids.push_back(rows.text(0));
  return ids;
}

std::optional<Removed> SqliteRecords::remove_upload(const std::string& caller,
                                                    const std::string& id) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(durable_);
  const int64_t hidden = durable_.run(
      "UPDATE uploads SET expires_ms = 0 WHERE id = ? AND caller = ? AND "
      "expires_ms > ?",
      id, caller, now_ms());
  if (hidden == 0) return std::nullopt;
  durable_.run("DELETE FROM idempotency_keys WHERE subject = ?", id);
  Removed removed{delete_expired_uploads()};
  transaction.commit();
  return removed;
}

// ---- Jobs ----

void SqliteRecords::insert(const JobRequest& job) {
  durable_.run(
      "INSERT INTO jobs(id, caller, task, upload, timbre, backing, status, created_ms, work_s) "
      "VALUES(?, ?, ?, ?, ?, ?, 'queued', ?, ?)",
      job.id, job.caller, to_name(job.task), or_null(job.upload), or_null(job.timbre),
      or_null(job.backing), now_ms(), work_of(durable_, job));
  durable_.run("INSERT INTO documents(job, options, notes) VALUES(?, ?, ?)", job.id,
               to_text(job.options), or_null(job.notes));
}

Acceptance SqliteRecords::accept(const JobRequest& job, const std::vector<Upload>& own_uploads,
                                 const std::optional<IdempotencyKey>& key) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(durable_);
  if (key) {
    if (auto found = earlier_use(job.caller, *key)) return *found;
  }
  if (auto limit = limit_of(job.caller, /*is_job=*/true)) return refused_by(std::move(*limit));
  auto waiting = waiting_by_caller();
  const int64_t before = place_of(INT64_MAX, waiting);  // after all of them
  if (before >= rules_.max_waiting) return {Acceptance::kQueueFull, "", before, ""};
  for (Upload own : own_uploads) {
    own.job = job.id;
    insert(own);
  }
  for (const std::string& id : {job.upload, job.timbre, job.backing}) {
    if (id.empty()) continue;
    Statement found =
        durable_.query("SELECT 1 FROM uploads WHERE id = ? AND caller = ? AND expires_ms > ?", id,
                       job.caller, now_ms());
    if (!found.next()) return {Acceptance::kNoUpload, "", 0, id};
  }
  insert(job);
  const int64_t rank = ++waiting[job.caller];
  const int64_t position = place_of(rank, waiting);
  count_use(job);
  if (key) remember(job.caller, *key, job.id, position);
  transaction.commit();
  return {Acceptance::kAccepted, job.id, position, ""};
}

std::optional<Job> SqliteRecords::any_job(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  return job_with(durable_, id);
}

std::optional<Job> SqliteRecords::job(const std::string& caller, const std::string& id) {
  auto found = any_job(id);
  if (!found || found->request.caller != caller) return std::nullopt;
  return found;
}

std::vector<Job> SqliteRecords::list(const std::string& caller, int64_t limit,
                                     std::optional<int64_t> before) {
  const std::scoped_lock lock(mutex_);
  Statement rows = durable_.query(
      fmt::format("{} WHERE j.caller = ? AND j.number < ? ORDER BY j.number DESC LIMIT ?",
                  kSelectJobs),
      caller, before.value_or(INT64_MAX), limit);
  std::vector<Job> jobs;
  while (rows.next()) jobs.push_back(job_of(rows));
  return jobs;
}

void SqliteRecords::forget(const std::string& job) {
  has_deleted_ = true;
  durable_.run("DELETE FROM jobs WHERE id = ?", job);
  durable_.run("DELETE FROM documents WHERE job = ?", job);
  durable_.run("DELETE FROM idempotency_keys WHERE subject = ?", job);
  durable_.run("DELETE FROM dead_letters WHERE job = ?", job);
  durable_.run("UPDATE uploads SET expires_ms = 0 WHERE job = ?", job);
}

std::optional<Removed> SqliteRecords::remove_job(const std::string& caller, const std::string& id) {
  const std::scoped_lock lock(mutex_);
  Transaction transaction(durable_);
  Statement found = durable_.query("SELECT 1 FROM jobs WHERE id = ? AND caller = ?", id, caller);
  if (!found.next()) return std::nullopt;
  forget(id);
  Removed removed{delete_expired_uploads()};
  transaction.commit();
  return removed;
}

void SqliteRecords::add_bytes(const std::string& job, int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  durable_.run("UPDATE jobs SET bytes = bytes + ? WHERE id = ?", bytes, job);
}

}  // namespace hum::serve

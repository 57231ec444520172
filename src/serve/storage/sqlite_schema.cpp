#include "serve/storage/sqlite_schema.h"

#include <cstdint>

#include "base/error.h"
#include "base/log.h"
#include "serve/storage/sqlite_rows_impl.h"

namespace hum::serve {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kSchema = 3;
// A check reads the whole file; beyond this size it would delay the start.
constexpr uintmax_t kMostCheckedBytes = 32 << 20;

// Version 1. `documents` holds what is large and rarely written, so that progress rewrites little.
constexpr const char* kTables = R"sql(
CREATE TABLE uploads(
  id TEXT PRIMARY KEY, caller TEXT NOT NULL, job TEXT, seconds REAL NOT NULL, source TEXT NOT NULL,
  created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE jobs(
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, caller TEXT NOT NULL,
  task TEXT NOT NULL, upload TEXT, timbre TEXT, backing TEXT,
  status TEXT NOT NULL, stage TEXT NOT NULL DEFAULT '', progress REAL NOT NULL DEFAULT 0,
  seconds_left REAL, results TEXT NOT NULL DEFAULT '[]', error TEXT,
  attempts INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 1,
  created_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL DEFAULT 0,
  expires_ms INTEGER, due_ms INTEGER NOT NULL DEFAULT 0,
  owner TEXT, lease_until_ms INTEGER);
CREATE INDEX waiting_jobs ON jobs(number) WHERE status = 'queued';
CREATE INDEX running_jobs ON jobs(number) WHERE status = 'running';
CREATE INDEX jobs_of_callers ON jobs(caller, number);
CREATE INDEX expiring_jobs ON jobs(expires_ms) WHERE expires_ms IS NOT NULL;
CREATE TABLE documents(
  job TEXT PRIMARY KEY, options TEXT NOT NULL, notes TEXT, heard TEXT) WITHOUT ROWID;
CREATE TABLE idempotency_keys(
  caller TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, subject TEXT NOT NULL,
  position INTEGER NOT NULL, created_ms INTEGER NOT NULL, PRIMARY KEY(caller, key)) WITHOUT ROWID;
CREATE INDEX keys_of_subjects ON idempotency_keys(subject);
CREATE TABLE dead_letters(
  job TEXT PRIMARY KEY, reason TEXT NOT NULL, attempts INTEGER NOT NULL,
  at_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE workers(
  owner TEXT PRIMARY KEY, is_ready INTEGER NOT NULL, seen_ms INTEGER NOT NULL) WITHOUT ROWID;
)sql";

// From version 1 to 2: callers with keys and quotas, and their turns. `usage` outlives its jobs, so
// that removing them earns no new hour.
constexpr const char* kVersion2 = R"sql(
ALTER TABLE uploads ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN work_s REAL NOT NULL DEFAULT 0;
CREATE TABLE turns(caller TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE usage(caller TEXT NOT NULL, at_ms INTEGER NOT NULL, seconds REAL NOT NULL);
CREATE INDEX usage_of_callers ON usage(caller, at_ms);
CREATE INDEX uploads_of_callers ON uploads(caller);
UPDATE jobs SET bytes =
  (SELECT coalesce(sum(json_extract(value, '$.bytes')), 0) FROM json_each(jobs.results));
UPDATE jobs SET caller = 'local' WHERE caller = '';
UPDATE uploads SET caller = 'local' WHERE caller = '';
UPDATE idempotency_keys SET caller = 'local' WHERE caller = '';
PRAGMA user_version = 2;
)sql";

// From version 2 to 3: options that had `fast` have its opposite, `lm`.
constexpr const char* kVersion3 = R"sql(
UPDATE documents SET options = json_remove(json_set(options, '$.lm',
    json(iif(json_extract(options, '$.fast'), 'false', 'true'))), '$.fast')
  WHERE json_type(options, '$.fast') IS NOT NULL;
PRAGMA user_version = 3;
)sql";

void require_whole(Database& database, const fs::path& file) {
  std::error_code ignored;
  if (fs::file_size(file, ignored) > kMostCheckedBytes) return;
  Statement check = database.query("PRAGMA quick_check(1)");
  if (check.next() && check.text(0) == "ok") return;
  fail(ExitCode::kFailure,
       fmt::format("{} is damaged: {}", file.filename().string(), check.text(0)));
}

void create_tables(Database& database, const fs::path& file) {
  Transaction transaction(database);
  const int64_t version = first_integer(database.query("PRAGMA user_version"));
  if (version == kSchema) return;
  if (version > kSchema || version < 0) {
    fail(ExitCode::kConfig,
         fmt::format("{} has version {} of the tables, and this hum knows {}",
                     file.filename().string(), version, kSchema),
         "use the hum that wrote it, or another --data folder");
  }
  if (version == 0) database.run_script(kTables);
  if (version < 2) database.run_script(kVersion2);
  database.run_script(kVersion3);
  transaction.commit();
}

// A copy that was made with another umask, such as a restored backup.
void hide_from_others(const fs::path& file) {
  constexpr fs::perms kOthers = fs::perms::group_all | fs::perms::others_all;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const fs::path part = file.string() + suffix;
    std::error_code missing, refused;
    const fs::perms now = fs::status(part, missing).permissions();
    if (missing || !fs::exists(part, missing) || (now & kOthers) == fs::perms::none) continue;
    fs::permissions(part, kOthers, fs::perm_options::remove, refused);
    if (!refused) spdlog::warn("{}: others could open it; now only its owner can", part.string());
  }
}

}  // namespace

Database open_records(const fs::path& file) {
  const ErrorContext context([&] { return "opening " + file.string(); });
  hide_from_others(file);
  try {
    Database database(file, true);
    require_whole(database, file);
    create_tables(database, file);
    return database;
  } catch (const Error& error) {
    if (error.code() != ExitCode::kFailure) throw;
    fail(ExitCode::kBadData, error.message(),
         "restore a backup, or move the database away to start with an empty one "
         "(docs/service.md)");
  }
}

}  // namespace hum::serve

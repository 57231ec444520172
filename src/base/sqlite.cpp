#include "base/sqlite.h"

#include "base/error.h"
#include "base/log.h"

namespace hum {
namespace {

// Other processes hold the write lock for milliseconds, longer only on a slow disk.
constexpr int kBusyTimeout_ms = 10'000;

constexpr const char* kOwnerHint =
    "the program's user must own the file, its -wal and -shm, and their folder (ls -la)";

ExitCode code_of(int status) {
  switch (status & 0xff) {
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      return ExitCode::kCannotCreate;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return ExitCode::kNoPermission;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ExitCode::kTemporary;
    default:
      return ExitCode::kFailure;
  }
}

const char* hint_of(ExitCode code) {
  switch (code) {
    case ExitCode::kCannotCreate:
      return "check that the disk is not full and that the folder exists";
    case ExitCode::kNoPermission:
      return kOwnerHint;
    case ExitCode::kTemporary:
      return "another process holds the database; try again";
    default:
      return "";
  }
}

// Callers of the API may read the message, so it has no path.
[[noreturn]] void fail_sqlite(sqlite3* database, int status) {
  const ExitCode code = code_of(status);
  const char* file = sqlite3_db_filename(database, "main");
  const bool is_named = file != nullptr && *file != '\0';
  const std::string name =
      is_named ? std::filesystem::path(file).filename().string() : "the database";
  const bool is_damaged = (status & 0xff) == SQLITE_CORRUPT || (status & 0xff) == SQLITE_NOTADB;
  fail(code,
       fmt::format("{} {}: {}", name, is_damaged ? "is damaged" : "cannot be used",
                   sqlite3_errmsg(database)),
       hint_of(code));
}

// SQLite does not wait for the lock that it needs to change the mode: another process may create
// the same file.
void use_log(sqlite3* database) {
  constexpr int kPause_ms = 20;
  int status = SQLITE_OK;
  for (int waited_ms = 0; waited_ms <= kBusyTimeout_ms; waited_ms += kPause_ms) {
    status = sqlite3_exec(database, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if ((status & 0xff) != SQLITE_BUSY) break;
    sqlite3_sleep(kPause_ms);
  }
  if (status != SQLITE_OK) fail_sqlite(database, status);
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int status =
      sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  handle_.reset(statement);
  if (status != SQLITE_OK) fail_sqlite(database, status);
}

void Statement::require(int status) const {
  if (status != SQLITE_OK) fail_sqlite(sqlite3_db_handle(handle_.get()), status);
}

Statement& Statement::bind(std::string_view text) {
  // A null pointer would bind NULL.
  const char* bytes = text.data() != nullptr ? text.data() : "";
  require(sqlite3_bind_text(handle_.get(), ++bound_, bytes, static_cast<int>(text.size()),
                            SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(int64_t value) {
  require(sqlite3_bind_int64(handle_.get(), ++bound_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  require(sqlite3_bind_double(handle_.get(), ++bound_, value));
  return *this;
}

Statement& Statement::bind(std::nullopt_t) {
  require(sqlite3_bind_null(handle_.get(), ++bound_));
  return *this;
}

bool Statement::next() {
  const int status = sqlite3_step(handle_.get());
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) fail_sqlite(sqlite3_db_handle(handle_.get()), status);
  return false;
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

Database::Database(const std::filesystem::path& file, bool is_durable) {
  sqlite3* database = nullptr;
  const int status =
      sqlite3_open_v2(file.c_str(), &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(database);
  if (status != SQLITE_OK) fail_sqlite(database, status);
  // SQLite opens a file that it may only read, and would fail at the first change.
  if (sqlite3_db_readonly(database, "main") == 1) {
    fail(ExitCode::kNoPermission, file.filename().string() + ": this user may not write to it",
         kOwnerHint);
  }
  sqlite3_busy_timeout(database, kBusyTimeout_ms);
  use_log(database);
  // What is deleted is overwritten with zeros.
  run_script("PRAGMA secure_delete=ON");
  run_script(is_durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
}

void Database::run_script(const char* sql) {
  const int status = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) fail_sqlite(handle_.get(), status);
}

bool Database::empty_log() {
  constexpr int kShortWait_ms = 20;
  sqlite3_busy_timeout(handle_.get(), kShortWait_ms);
  bool is_empty = false;
  try {
    Statement result = query("PRAGMA wal_checkpoint(TRUNCATE)");
    is_empty = result.next() && result.integer(0) == 0;
  } catch (const Error& error) {
    if (error.code() != ExitCode::kTemporary) throw;
  }
  sqlite3_busy_timeout(handle_.get(), kBusyTimeout_ms);
  return is_empty;
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.run_script("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!is_open_) return;
  try {
    database_.run_script("ROLLBACK");
  } catch (const Error& error) {
    // After some errors SQLite has rolled back already.
    spdlog::debug("rollback: {}", error.message());
  }
}

void Transaction::commit() {
  database_.run_script("COMMIT");
  is_open_ = false;
}

}  // namespace hum

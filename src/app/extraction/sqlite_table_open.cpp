// The tables of SqliteTable, and who may open them.
#include <linux/magic.h>
#include <sys/vfs.h>

#include <array>

#include "app/extraction/sqlite_table.h"
#include "base/error.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kVersion = 1;
constexpr const char* kTables = R"sql(
CREATE TABLE options(made_with TEXT NOT NULL);
CREATE TABLE recordings(
  number INTEGER PRIMARY KEY,
  location TEXT NOT NULL UNIQUE,
  bytes INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting',
  attempts INTEGER NOT NULL DEFAULT 0,
  lease INTEGER,
  sha256 TEXT,
  reason TEXT,
  seconds REAL NOT NULL DEFAULT 0,
  kept INTEGER NOT NULL DEFAULT 0,
  silent INTEGER NOT NULL DEFAULT 0,
  without_notes INTEGER NOT NULL DEFAULT 0,
  shard TEXT);
CREATE INDEX recordings_by_state ON recordings(state, attempts, number);
CREATE INDEX recordings_by_lease ON recordings(lease) WHERE lease IS NOT NULL;
CREATE INDEX recordings_by_content ON recordings(sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX recordings_by_shard ON recordings(shard) WHERE shard IS NOT NULL;
CREATE TABLE leases(token INTEGER PRIMARY KEY AUTOINCREMENT, until_s REAL NOT NULL);
CREATE TABLE shards(
  name TEXT PRIMARY KEY, items INTEGER, bytes INTEGER, sha256 TEXT,
  lease INTEGER);
)sql";

// SQLite's locks do not hold there.
void require_local(const fs::path& file) {
  constexpr std::array<unsigned long, 4> kRemote = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC,
                                                    CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC};
  struct statfs system {};
  if (::statfs(file.parent_path().c_str(), &system) != 0) return;  // opening the file says why
  for (const unsigned long magic : kRemote) {
    if ((static_cast<unsigned long>(system.f_type) & 0xffffffffUL) != magic) continue;
    fail(ExitCode::kCannotCreate,
         file.string() + ": is on a network file system, where processes cannot share it",
         "-o names a folder on a disk of this machine");
  }
}

const fs::path& checked(const fs::path& file, const Json& options) {
  if (options.is_null() && !fs::exists(file)) {
    fail(ExitCode::kNoInput, file.parent_path().string() + ": no features were extracted here",
         "hum data extract music/ -o " + file.parent_path().string());
  }
  require_local(file);
  return file;
}

// 0: a new file.
int64_t version_of(Database& database) {
  Statement row = database.query("PRAGMA user_version");
  return row.next() ? row.integer(0) : 0;
}

void create_or_check(Database& database, const fs::path& file, const Json& options) {
  Transaction transaction(database);
  const int64_t version = version_of(database);
  if (version > kVersion) {
    fail(ExitCode::kConfig,
         fmt::format("{}: is of version {}, which a newer version of hum wrote", file.string(),
                     version),
         "use that version, or another folder");
  }
  if (version == 0) {
    if (options.is_null()) {
      fail(ExitCode::kBadData, file.string() + ": holds no recordings", "repeat hum data extract");
    }
    database.run_script(kTables);
    database.run("INSERT INTO options VALUES(?)", to_text(options));
    database.run_script(fmt::format("PRAGMA user_version = {}", kVersion).c_str());
  } else if (!options.is_null()) {
    Statement row = database.query("SELECT made_with FROM options");
    HUM_CHECK(row.next());
    require_same_options(row.text(0), options, file.parent_path().string());
  }
  transaction.commit();
}

}  // namespace

Database SqliteTable::open(const fs::path& file, const Json& options) {
  Database database(checked(file, options), /*is_durable=*/true);
  create_or_check(database, file, options);
  return database;
}

}  // namespace hum::app

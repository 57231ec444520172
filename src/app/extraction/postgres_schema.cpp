// The schema of PostgresTable.
#include "app/extraction/postgres_table.h"
#include "base/error.h"

namespace hum::app {
namespace {

constexpr int64_t kVersion = 1;

// hum.counts has the numbers of hum.recordings, so that nobody need count those: a job's number of
// recordings in a state is the sum over the slots. Processes write to different slots and so do not
// wait for each other.
constexpr const char* kSchema = R"sql(CREATE SCHEMA IF NOT EXISTS hum;
CREATE TABLE hum.format(version integer NOT NULL);
INSERT INTO hum.format VALUES (1);
CREATE TABLE hum.jobs(
  job integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  is_marked boolean NOT NULL DEFAULT false,
  made_with text NOT NULL,
  output text NOT NULL UNIQUE,
  synced_at timestamptz);
CREATE TABLE hum.recordings(
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job integer NOT NULL,
  key text NOT NULL,
  location text NOT NULL,
  reference text,
  licence text,
  rank double precision NOT NULL,
  state text NOT NULL DEFAULT 'waiting',
  attempts integer NOT NULL DEFAULT 0,
  lease bigint,
  sha256 text,
  reason text,
  seconds double precision NOT NULL DEFAULT 0,
  kept bigint NOT NULL DEFAULT 0,
  silent bigint NOT NULL DEFAULT 0,
  without_notes bigint NOT NULL DEFAULT 0,
  shard text,
  UNIQUE (job, key))
  WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
CREATE INDEX recordings_waiting ON hum.recordings(job, attempts, rank, number)
  WHERE state = 'waiting';
CREATE INDEX recordings_set_aside ON hum.recordings(job, state, number)
  WHERE state IN ('failed', 'duplicate');
CREATE INDEX recordings_by_lease ON hum.recordings(lease) WHERE lease IS NOT NULL;
CREATE INDEX recordings_by_content ON hum.recordings(job, sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX recordings_by_shard ON hum.recordings(job, shard) WHERE shard IS NOT NULL;
CREATE TABLE hum.leases(
  token bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job integer NOT NULL,
  until timestamptz NOT NULL);
CREATE TABLE hum.shards(
  job integer, name text, items bigint, bytes bigint, sha256 text, lease bigint,
  PRIMARY KEY (job, name));
CREATE INDEX shards_by_lease ON hum.shards(lease) WHERE lease IS NOT NULL;
CREATE TABLE hum.counts(
  job integer, slot integer, state text,
  recordings bigint NOT NULL, seconds numeric NOT NULL DEFAULT 0, kept bigint NOT NULL DEFAULT 0,
  silent bigint NOT NULL DEFAULT 0, without_notes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (job, slot, state));
CREATE FUNCTION hum.count_nothing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM hum.counts;
  RETURN NULL;
END $$;
CREATE TRIGGER count_nothing AFTER TRUNCATE ON hum.recordings
  FOR EACH STATEMENT EXECUTE FUNCTION hum.count_nothing();
)sql";

// {0}: the event of a trigger; {1}: its transition tables; {2}: their rows, with n: 1 for those
// that are there after it, -1 for those that were there before.
constexpr const char* kCountTrigger = R"sql(CREATE FUNCTION hum.count_{0}() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO hum.counts AS known
  SELECT job, pg_backend_pid() & 63, state, sum(n), sum(n * seconds::numeric), sum(n * kept),
    sum(n * silent), sum(n * without_notes)
  FROM ({2}) AS changes
  GROUP BY job, state
  HAVING sum(n) <> 0 OR sum(n * seconds::numeric) <> 0
  ORDER BY job, state
  ON CONFLICT (job, slot, state) DO UPDATE SET
    recordings = known.recordings + excluded.recordings,
    seconds = known.seconds + excluded.seconds,
    kept = known.kept + excluded.kept,
    silent = known.silent + excluded.silent,
    without_notes = known.without_notes + excluded.without_notes;
  RETURN NULL;
END $$;
CREATE TRIGGER count_{0} AFTER {0} ON hum.recordings REFERENCING {1}
  FOR EACH STATEMENT EXECUTE FUNCTION hum.count_{0}();
)sql";
constexpr const char* kBefore = "OLD TABLE AS before";
constexpr const char* kAfter = "NEW TABLE AS after";
constexpr const char* kRowsBefore = "SELECT -1 AS n, * FROM before";
constexpr const char* kRowsAfter = "SELECT 1 AS n, * FROM after";

bool has_schema(Postgres& database) {
  return !database.query("SELECT to_regclass('hum.format')").is_null(0, 0);
}

void require_known_version(Postgres& database) {
  const int64_t version = database.query("SELECT version FROM hum.format").integer(0, 0);
  if (version == kVersion) return;
  fail(ExitCode::kConfig,
       fmt::format("{}: its schema hum is of version {}, which a newer version of hum wrote",
                   database.name(), version),
       "use that version, or another database");
}

}  // namespace

std::string postgres_schema_sql() {
  std::string sql = kSchema;
  sql += fmt::format(kCountTrigger, "insert", kAfter, kRowsAfter);
  sql += fmt::format(kCountTrigger, "delete", kBefore, kRowsBefore);
  sql += fmt::format(kCountTrigger, "update", fmt::format("{} {}", kBefore, kAfter),
                     fmt::format("{} UNION ALL {}", kRowsBefore, kRowsAfter));
  return sql;
}

void create_postgres_schema(Postgres& database) {
  database.transact([&] {
    // One process at a time, when several are started with --init.
    database.query("SELECT pg_advisory_xact_lock(hashtext('hum.init'), 0)");
    if (has_schema(database)) {
      require_known_version(database);
    } else {
      database.run_script(postgres_schema_sql());
    }
  });
}

void require_postgres_schema(Postgres& database) {
  if (!has_schema(database)) {
    fail(ExitCode::kConfig, database.name() + ": has no schema hum",
         "add --init to hum data extract, or run what --init-sql prints");
  }
  require_known_version(database);
}

bool has_job(Postgres& database, const std::string& job) {
  return has_schema(database) &&
         database.query("SELECT 1 FROM hum.jobs WHERE name = $1", job).size() == 1;
}

}  // namespace hum::app

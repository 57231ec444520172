// The jobs of PostgresTable, and how a job takes up the rows of its source.
#include "app/extraction/postgres_table.h"
#include "base/error.h"
#include "base/log.h"
#include "base/names.h"

namespace hum::app {
namespace {

// Of the job's recordings. `source`: SourceSql::rows.
std::string is_new(const std::string& job) {
  return fmt::format(
      "NOT EXISTS (SELECT 1 FROM hum.recordings AS known WHERE known.job = {} "
      "AND known.key = source.key)",
      job);
}

}  // namespace

SourceCounts count_source(Postgres& database, const std::string& job,
                          const RecordingSource& source) {
  return database.transact([&] {
    const std::string rows = source_sql(database, source).rows;
    const std::string new_ones = has_job(database, job)
                                     ? is_new("(SELECT job FROM hum.jobs WHERE name = $1)")
                                     : "$1::text IS NOT NULL";
    const PostgresRows counts = database.query(
        fmt::format("SELECT count(*), count(*) FILTER (WHERE key IS NOT NULL AND {}) "
                    "FROM ({}) AS source",
                    new_ones, rows),
        job);
    return SourceCounts{counts.integer(0, 0), counts.integer(0, 1)};
  });
}

PostgresTable::PostgresTable(Postgres database, const PostgresJob& job, double lease_s)
    : database_(std::move(database)), lease_s_(lease_s), name_(job.name) {
  database_.transact([&] { open(job); });
}

void PostgresTable::open(const PostgresJob& job) {
  require_postgres_schema(database_);
  if (!job.made_with.is_null()) {
    // Nothing is inserted beside a job of this name or with this output, which another process may
    // have created just now.
    database_.query(
        "INSERT INTO hum.jobs(name, made_with, output) VALUES($1, $2, $3) ON CONFLICT DO NOTHING",
        job.name, to_text(job.made_with), job.output);
    const PostgresRows other = database_.query(
        "SELECT name FROM hum.jobs WHERE output = $1 AND name <> $2", job.output, job.name);
    if (other.size() > 0) {
      fail(ExitCode::kUsage,
           fmt::format("{} holds the shards of job {}", job.output, other.text(0, 0)),
           "choose another folder with -o, or --job " + other.text(0, 0));
    }
  }
  const PostgresRows jobs = database_.query(
      "SELECT job, name, made_with, output, CASE WHEN is_marked THEN id::text ELSE '' END "
      "FROM hum.jobs WHERE $1 IN ('', name) ORDER BY name",
      job.name);
  if (jobs.size() == 0) {
    fail(ExitCode::kNoInput,
         job.name.empty() ? database_.name() + ": no features were extracted from it"
                          : fmt::format("{}: has no job {}", database_.name(), job.name),
         "hum data extract --from URL --table recordings -o features/");
  }
  if (jobs.size() > 1) {
    std::vector<std::string> names;
    for (int64_t i = 0; i < jobs.size(); ++i) names.push_back(jobs.text(i, 1));
    fail(ExitCode::kUsage, database_.name() + ": has several jobs",
         fmt::format("--job NAME; they are {}", fmt::join(names, ", ")));
  }
  job_ = jobs.integer(0, 0);
  name_ = jobs.text(0, 1);
  output_ = jobs.text(0, 3);
  mark_ = jobs.text(0, 4);
  if (job.made_with.is_null()) return;
  if (output_ != job.output) {
    fail(ExitCode::kUsage, fmt::format("the shards of job {} lie in {}", name_, output_),
         "use that as -o, or give another job a name with --job");
  }
  require_same_options(jobs.text(0, 2), job.made_with, output_);
}

void PostgresTable::mark_output(const std::function<void(const std::string& id)>& mark) {
  const std::scoped_lock lock(mutex_);
  if (!mark_.empty()) return;
  mark_ = database_.transact([&] {
    database_.query("SET LOCAL lock_timeout = 0");
    const PostgresRows row =
        database_.query("SELECT id, is_marked FROM hum.jobs WHERE job = $1 FOR UPDATE", job_);
    std::string id = row.text(0, 0);
    if (row.boolean(0, 1)) return id;
    mark(id);
    database_.query("UPDATE hum.jobs SET is_marked = true WHERE job = $1", job_);
    return id;
  });
}

SourceCounts PostgresTable::sync(const RecordingSource& source) {
  const std::scoped_lock lock(mutex_);
  return database_.transact([&] {
    const SourceSql sql = source_sql(database_, source);
    write_back_sql_ = sql.write_back;
    SourceCounts counts;
    counts.found =
        database_.query(fmt::format("SELECT count(*) FROM ({}) AS source", sql.rows)).integer(0, 0);
    database_.query("SET LOCAL lock_timeout = 0");
    database_.query("SELECT pg_advisory_xact_lock(hashtext('hum.sync'), $1::integer)", job_);
    // A process that began after this one has read the same rows. A time to come is from a clock
    // that was wrong.
    const bool is_done = database_
                             .query(
                                 "SELECT 1 FROM hum.jobs WHERE job = $1 AND synced_at "
                                 "BETWEEN now() AND clock_timestamp()",
                                 job_)
                             .size() == 1;
    if (is_done) return counts;
    database_.query("UPDATE hum.jobs SET synced_at = clock_timestamp() WHERE job = $1", job_);
    counts.added = copy_rows(sql.rows);
    return counts;
  });
}

int64_t PostgresTable::copy_rows(const std::string& rows) {
  database_.query(
      fmt::format("UPDATE hum.recordings AS known SET location = source.location, "
                  "reference = source.reference, licence = source.licence, rank = source.rank "
                  "FROM ({}) AS source WHERE known.job = $1 AND known.key = source.key "
                  "AND known.state IN ('waiting', 'failed') "
                  "AND (known.location, known.reference, known.licence, known.rank) "
                  "IS DISTINCT FROM "
                  "(source.location, source.reference, source.licence, source.rank)",
                  rows),
      job_);
  const PostgresRows result = database_.query(
      fmt::format(
          "WITH new AS MATERIALIZED (SELECT * FROM ({}) AS source WHERE {}), "
          "added AS (INSERT INTO hum.recordings(job, key, location, reference, licence, rank) "
          "SELECT $1::integer, key, location, reference, licence, rank FROM new WHERE key IS NOT "
          "NULL "
          "ON CONFLICT (job, key) DO NOTHING RETURNING 1) "
          "SELECT (SELECT count(*) FROM added), count(*), count(*) FILTER (WHERE key IS NULL) "
          "FROM new",
          rows, is_new("$1")),
      job_);
  const int64_t added = result.integer(0, 0), without_key = result.integer(0, 2);
  const int64_t repeated = result.integer(0, 1) - without_key - added;
  if (without_key > 0) {
    spdlog::warn("{} without a key left out: --key-column names a column that identifies them",
                 counted(without_key, "row"));
  }
  if (repeated > 0) {
    spdlog::warn("{} left out whose key another row has: --key-column names a unique column",
                 counted(repeated, "row"));
  }
  return added;
}

}  // namespace hum::app

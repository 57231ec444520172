#include "app/extraction/extract_database.h"

#include <filesystem>

#include "base/error.h"
#include "base/s3.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

std::string job_of(const ExtractOptions& options) {
  return options.database.job.empty() ? options.source.table : options.database.job;
}

// As a job stores it.
std::string output_of(const std::string& place) {
  return is_s3_url(place) ? place : fs::absolute(place).lexically_normal().string();
}

std::string place_of(const std::string& database, const std::string& job) {
  return fmt::format("--from '{}' --job '{}'", database, job);
}

}  // namespace

void require_no_database(const std::string& path) {
  if (!is_postgres_url(path)) return;
  fail(ExitCode::kUsage, "a database is given where a path is expected", "--from URL");
}

void require_no_database_flag(bool is_given, std::string_view flag) {
  if (!is_given) return;
  fail(ExitCode::kUsage, fmt::format("--{} is for a database", flag),
       "--from postgresql://host/database");
}

void require_no_database_flags(const ExtractOptions& options) {
  const RecordingSource& source = options.source;
  const RecordingSource usual;
  require_no_database_flag(source.table != usual.table, "table");
  require_no_database_flag(source.key_column != usual.key_column, "key-column");
  require_no_database_flag(source.location_column != usual.location_column, "location-column");
  require_no_database_flag(!source.reference_column.empty(), "reference-column");
  require_no_database_flag(!source.licence_column.empty(), "licence-column");
  require_no_database_flag(!source.priority_column.empty(), "priority-column");
  require_no_database_flag(!source.write_back.empty(), "write-back");
  require_no_database_flag(!options.database.job.empty(), "job");
  require_no_database_flag(options.init, "init");
}

void prepare_database(const ExtractOptions& options) {
  Postgres database(options.database.from);
  if (!options.dry_run) {
    if (options.init) create_postgres_schema(database);
    require_postgres_schema(database);
    try_write_back(database, options.source);
  }
  source_sql(database, options.source);
}

bool has_job(const ExtractOptions& options, const std::string& place, const ShardStore& store) {
  Postgres database(options.database.from);
  const std::string job = job_of(options);
  if (!has_job(database, job)) return false;
  const PostgresTable table(std::move(database), {.name = job}, kUsualLease_s);
  if (table.output() == output_of(place)) require_mark(store, place, table.mark());
  return true;
}

Extraction planned_in_database(const ExtractOptions& options, const std::string& place) {
  Postgres database(options.database.from);
  const std::string job = job_of(options);
  const SourceCounts counts = count_source(database, job, options.source);
  Extraction plan{.folder = place,
                  .place = place_of(database.name(), job),
                  .found = counts.found,
                  .added = counts.added};
  if (has_job(database, job)) {
    plan.counts = PostgresTable(std::move(database), {.name = job}, kUsualLease_s).counts();
  }
  return plan;
}

std::unique_ptr<PostgresTable> open_job(const ExtractOptions& options, const std::string& place,
                                        ShardStore& store, const Json& made_with,
                                        Extraction& result) {
  const PostgresJob job{
      .name = job_of(options), .made_with = made_with, .output = output_of(place)};
  auto table =
      std::make_unique<PostgresTable>(Postgres(options.database.from), job, options.lease_s);
  table->mark_output([&](const std::string& id) {
    // It is there if a process was killed before it could say so.
    if (store.mark().empty()) store.set_mark(id);
    require_mark(store, place, id);
  });
  require_mark(store, place, table->mark());
  const SourceCounts counts = table->sync(options.source);
  result.place = place_of(table->database(), job.name);
  result.found = counts.found;
  result.added = counts.added;
  return table;
}

}  // namespace hum::app

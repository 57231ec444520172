#include "app/extraction/postgres_source.h"

#include <map>
#include <optional>
#include <vector>

#include "app/extraction/recording_table.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/names.h"

namespace hum::app {
namespace {

struct Column {
  std::string type, category;  // pg_type.typcategory
};

constexpr const char* kText = "S";
constexpr const char* kNumber = "N";

// The columns of a source's table, by name.
class Columns {
 public:
  Columns(Postgres& database, const std::string& table) : database_(database), table_(table) {
    sql_ = database.quoted_table(table);
    if (database.query("SELECT to_regclass($1)", sql_).is_null(0, 0)) {
      fail(ExitCode::kUsage, fmt::format("{}: has no table {}", database.name(), table),
           "--table TABLE or --table SCHEMA.TABLE, with capitals as they are, and double quotes "
           "around a part with dots");
    }
    const auto rows = database.query(
        "SELECT attname, format_type(atttypid, atttypmod), typcategory "
        "FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid "
        "WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped",
        sql_);
    for (int64_t i = 0; i < rows.size(); ++i) {
      columns_[rows.text(i, 0)] = {rows.text(i, 1), rows.text(i, 2)};
    }
  }

  const std::string& table() const { return sql_; }

  // Finds a column that `flag` names, and for which this user has the privilege. `category`: that
  // of its type; null: any.
  Column require(const std::string& name, const std::string& flag, const char* category,
                 const std::string& privilege = "SELECT") const {
    const auto found = columns_.find(name);
    if (found == columns_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, column] : columns_) names.push_back(known);
      fail(ExitCode::kUsage, fmt::format("table {}: has no column {}", table_, name),
           fmt::format("--{} NAME; the table has {}", flag,
                       fmt::join(nearest_names(name, names, 8), ", ")));
    }
    const Column& column = found->second;
    if (category != nullptr && column.category != category) {
      fail(ExitCode::kUsage,
           fmt::format("table {}: column {} is of type {}, not {}", table_, name, column.type,
                       std::string_view(category) == kText ? "text" : "a number"),
           fmt::format("--{} NAME", flag));
    }
    if (!database_.query("SELECT has_column_privilege($1, $2, $3)", sql_, name, privilege)
             .boolean(0, 0)) {
      fail(ExitCode::kNoPermission,
           fmt::format("table {}: this user lacks {} on column {}", table_, privilege, name),
           fmt::format("GRANT {} ({}) ON {} TO ...", privilege, database_.quoted(name), sql_));
    }
    return column;
  }

  // A text column as SQL; NULL if it has no name.
  std::string optional_text(const std::string& name, const std::string& flag,
                            const char* category) const {
    if (name.empty()) return "NULL::text";
    require(name, flag, category);
    return fmt::format("nullif({}::text, '')", database_.quoted(name));
  }

 private:
  Postgres& database_;
  std::string table_, sql_;
  std::map<std::string, Column> columns_;
};

Json ended_row(const std::string& key, const std::string& state) {
  return {{"key", key}, {"state", state}};
}

// Returns why the table rejects them.
std::optional<Error> write_states(Postgres& database, const std::string& sql, const Json& rows) {
  return database.attempt([&] {
    database.query(sql, to_text(rows));
    database.query("SET CONSTRAINTS ALL IMMEDIATE");  // not as late as COMMIT
  });
}

}  // namespace

SourceSql source_sql(Postgres& database, const RecordingSource& source) {
  const Columns columns(database, source.table);
  const Column key = columns.require(source.key_column, "key-column", nullptr);
  columns.require(source.location_column, "location-column", kText);
  std::string rank = "0";
  if (!source.priority_column.empty()) {
    columns.require(source.priority_column, "priority-column", kNumber);
    rank = fmt::format("-coalesce(nullif({}::double precision, 'NaN'), 0)",
                       database.quoted(source.priority_column));
  }
  const std::string key_sql = database.quoted(source.key_column);
  SourceSql sql;
  sql.rows = fmt::format(
      "SELECT {}::text AS key, coalesce({}::text, '') AS location, {} AS reference, {} AS licence, "
      "{}::double precision AS rank FROM {}",
      key_sql, database.quoted(source.location_column),
      columns.optional_text(source.reference_column, "reference-column", kText),
      columns.optional_text(source.licence_column, "licence-column", nullptr), rank,
      columns.table());
  if (!source.write_back.empty()) {
    columns.require(source.write_back, "write-back", kText, "UPDATE");
    sql.write_back = fmt::format(
        "UPDATE {} AS source SET {} = ended.state "
        "FROM json_to_recordset($1::json) AS ended(key text, state text) "
        "WHERE source.{} = ended.key::{}",
        columns.table(), database.quoted(source.write_back), key_sql, key.type);
  }
  return sql;
}

void write_back(Postgres& database, const std::string& sql, const PostgresRows& ended) {
  if (sql.empty() || ended.size() == 0) return;
  Json rows = Json::array();
  for (int64_t i = 0; i < ended.size(); ++i) {
    rows.push_back(ended_row(ended.text(i, 0), ended.text(i, 1)));
  }
  if (!write_states(database, sql, rows)) return;
  // One by one, so that only those lack it that are rejected. A lock is not waited for again.
  const std::string patience = database.query("SHOW lock_timeout").text(0, 0);
  database.query("SET LOCAL lock_timeout = '1s'");
  int64_t rejected = 0;
  std::string reason;
  for (const Json& row : rows) {
    const auto error = write_states(database, sql, Json::array({row}));
    if (!error) continue;
    ++rejected;
    reason = error->message();
  }
  database.query("SELECT set_config('lock_timeout', $1, true)", patience);
  if (rejected == 0) return;
  spdlog::warn("what became of {} is not written back: {}", counted(rejected, "recording"), reason);
}

void try_write_back(Postgres& database, const RecordingSource& source) {
  if (source.write_back.empty()) return;
  const SourceSql sql = source_sql(database, source);
  database.transact([&] {
    const PostgresRows row = database.query(
        fmt::format("SELECT key FROM ({}) AS source WHERE key IS NOT NULL LIMIT 1", sql.rows));
    if (row.size() == 0) return;
    database.query("SAVEPOINT trial");
    for (const auto state :
         {RecordingState::kDone, RecordingState::kFailed, RecordingState::kDuplicate}) {
      const std::string name(to_name(state));
      const auto error =
          write_states(database, sql.write_back, Json::array({ended_row(row.text(0, 0), name)}));
      if (!error) continue;
      if (error->code() != ExitCode::kFailure) throw *error;
      fail(ExitCode::kUsage,
           fmt::format("table {}: column {} does not take '{}': {}", source.table,
                       source.write_back, name, error->message()),
           "--write-back COLUMN: a text column that takes done, failed and duplicate");
    }
    database.query("ROLLBACK TO trial");
  });
}

}  // namespace hum::app

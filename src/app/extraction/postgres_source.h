// A user's table of recordings in PostgreSQL: which columns to read, and the SQL that reads them.
// hum needs SELECT on these columns, and UPDATE on one only if it is told to write results back.
#pragma once

#include <string>

#include "base/postgres.h"

namespace hum::app {

struct RecordingSource {
  std::string table = "recordings";  // or schema.table
  std::string key_column = "id", location_column = "location";
  // Optional: the location of a mono version; anything; a number, larger ones first.
  std::string reference_column, licence_column, priority_column;
  // Optional: a text column that receives what became of a recording.
  std::string write_back;
};

struct SourceSql {
  // A query with the columns key, location (empty for NULL), reference, licence (both NULL if there
  // is none) and rank (smaller ones first).
  std::string rows;
  // Writes states; $1 is JSON, [{"key": "7", "state": "done"}]. Empty without write_back.
  std::string write_back;
};

// Throws: kUsage, naming the flag, for a table or column that is missing or of a wrong type;
// kNoPermission if it may not be read, or written.
SourceSql source_sql(Postgres& database, const RecordingSource& source);

// Within a transaction: writes the column state of `ended` to the rows with its column key. Warns
// of rows that the table rejects, or that somebody else has locked. `sql`: SourceSql::write_back;
// empty: does nothing.
void write_back(Postgres& database, const std::string& sql, const PostgresRows& ended);
// Writes each state to one row, and undoes it. Throws: kUsage, naming the flag, if the table
// rejects it; what source_sql throws.
void try_write_back(Postgres& database, const RecordingSource& source);

}  // namespace hum::app

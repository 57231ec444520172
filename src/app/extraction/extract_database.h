// What differs in `hum data extract --from`: the recordings are rows of a PostgreSQL table, and
// what became of them is in a job of the same database.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "app/extraction/extract.h"
#include "app/extraction/postgres_table.h"
#include "app/extraction/shard_store.h"

namespace hum::app {

// Such a URL may hold a password, so no message may take it for a path and show it. Throws: kUsage.
void require_no_database(const std::string& path);

// Without a database. Throws: kUsage, naming the flag, if one was given that is for a database.
void require_no_database_flags(const ExtractOptions& options);
void require_no_database_flag(bool is_given, std::string_view flag);

// Of commands that claim nothing.
inline constexpr double kUsualLease_s = 30;

// Creates hum's schema if the options say so, and refuses what cannot work, before models are
// loaded. Throws: what require_postgres_schema, source_sql and try_write_back throw.
void prepare_database(const ExtractOptions& options);
// Whether shards of this extraction may be in its place. Throws: what require_mark throws, for
// `store`.
bool has_job(const ExtractOptions& options, const std::string& place, const ShardStore& store);
// What extract() would do; writes nothing.
Extraction planned_in_database(const ExtractOptions& options, const std::string& place);
// Opens the job, whose shards lie in `place`, marks that place or finds the job's mark in it, and
// adds the recordings of the source. Writes what it found to `result`.
std::unique_ptr<PostgresTable> open_job(const ExtractOptions& options, const std::string& place,
                                        ShardStore& store, const Json& made_with,
                                        Extraction& result);

}  // namespace hum::app

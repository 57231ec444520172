// Features of people's own recordings, for training: `hum data extract` and its commands. A folder
// of features holds the shards, shards.json and the table of recordings, recordings.sqlite. With
// --from, the table is a job in a PostgreSQL database instead.
//
// extract() fills the table, from folders of sound files or from a table of the database, then
// works until nothing waits; any number of processes may do so at once, those of one host on a
// folder. Recordings wait, are claimed for a time, and are done or set aside (recording_table.h). A
// shard counts once the table lists it (worker.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/extraction/postgres_source.h"
#include "app/extraction/recording_parts.h"
#include "app/extraction/recording_table.h"
#include "base/json.h"

namespace hum::app {

struct DatabaseJob {
  std::string from;  // postgresql://...; empty: no database
  std::string job;
};

struct ExtractOptions {
  std::vector<std::string> inputs;  // recordings and folders of them; none with a database
  DatabaseJob database;             // without a job: that with the name of the source's table
  RecordingSource source;           // in the database
  bool init = false;                // create hum's schema in it first
  std::string output = "runs/features";
  std::string metrics_file;  // NAME.prom, for Prometheus (metrics.h); empty: none
  std::string weights;       // whose codec; as in ConversionOptions
  bool keep_audio = false;   // samples hold the sound itself, too
  bool stems = false;        // refused: there is no separator
  bool recursive = false;
  bool dry_run = false;
  int64_t batch = 8;
  double max_seconds = kLongestRecording_s;
  double lease_s = 30;
};

struct Extraction {
  std::string folder;
  std::string place;               // the arguments of `hum data extract status`
  int stop_signal = 0;             // the signal that stopped it; 0: none
  int64_t found = 0, added = 0;    // recordings of the inputs; those that were new
  TableCounts counts;              // at the end; of a dry run, nothing has changed
  double sound_s = 0, took_s = 0;  // of this process
};

// Throws: kUsage for an option out of range; what find_recordings, PostgresTable::sync and the
// constructors of SqliteTable, Postgres, PostgresTable and CodecSession throw.
Extraction extract(const ExtractOptions& options);
std::string extraction_text(const ExtractOptions& options, const Extraction& extraction);
Json extraction_report(const ExtractOptions& options, const Extraction& extraction);

struct ExtractionStatus {
  std::string folder;
  TableCounts counts;
  std::vector<SetAside> set_aside;
  int64_t shards = 0, bytes = 0;  // that are listed
};

// These take a folder, or a database and its job, empty for its only one; never both. They throw
// kNoInput for a folder or a database without features.
ExtractionStatus extraction_status(const std::string& folder, const DatabaseJob& database = {});
std::string status_text(const ExtractionStatus& status);
Json status_report(const ExtractionStatus& status);

// The recordings that failed, if `failed`, and those of `shard`, if it is not empty, wait again.
// Returns how many. Throws: kUsage if neither is chosen, kNoInput for a shard that is not listed.
int64_t requeue(const std::string& folder, bool failed, const std::string& shard,
                const DatabaseJob& database = {});

struct CollectedGarbage {
  int64_t files = 0, bytes = 0;
};
// Removes shards that the table does not list and no process may list yet, and the unfinished files
// of killed processes.
CollectedGarbage collect_garbage(const std::string& folder, const DatabaseJob& database = {});

}  // namespace hum::app

// The recordings in a PostgreSQL database, for any number of processes on any hosts. Claims,
// results and reasons are in the schema `hum`; the user's table is only read, unless results are
// written back. docs/formats/items.md has the tables.
//
// A database holds several extractions, the jobs. A job copies the keys and locations of its source
// into hum.recordings, so that a claim depends on neither the size nor the indexes of that table.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "app/extraction/postgres_source.h"
#include "app/extraction/recording_table.h"
#include "base/postgres.h"

namespace hum::app {

// The SQL that creates the schema.
std::string postgres_schema_sql();
// Creates the schema unless it is there. Throws: kNoPermission, kConfig if a newer version of hum
// created it.
void create_postgres_schema(Postgres& database);
// Throws: kConfig without the schema, or if a newer version of hum created it.
void require_postgres_schema(Postgres& database);
// Whether the schema is there and has the job.
bool has_job(Postgres& database, const std::string& job);

struct SourceCounts {
  int64_t found = 0, added = 0;
};
// What PostgresTable::sync would add; changes nothing. The schema need not be there.
SourceCounts count_source(Postgres& database, const std::string& job,
                          const RecordingSource& source);

// What all processes of a job have in common.
struct PostgresJob {
  std::string name;    // empty: the only one of the database, which must exist
  Json made_with;      // as in RecordingTable::options(); null: the job must exist
  std::string output;  // where its shards lie; of a job that must exist, unused
};

class PostgresTable : public RecordingTable {
 public:
  // Creates the job unless it must exist. Throws: what require_postgres_schema throws; kNoInput for
  // a job that must exist and does not; kUsage if it has other options or another output.
  PostgresTable(Postgres database, const PostgresJob& job, double lease_s);

  // Adds the recordings of the source whose keys are new, and takes up what has changed in those
  // that wait or have failed. From now on results are written back if the source says so.
  SourceCounts sync(const RecordingSource& source);

  // postgresql://host:port/database
  const std::string& database() const { return database_.name(); }
  const std::string& job() const { return name_; }
  const std::string& output() const { return output_; }
  // The job's ID, once its output is marked with it; else empty.
  const std::string& mark() const { return mark_; }
  // Calls `mark` with the job's ID if no process has marked the output, while others wait.
  void mark_output(const std::function<void(const std::string& id)>& mark);

  Claim claim(int64_t most) override;
  bool renew(int64_t lease) override;
  Content note_content(int64_t lease, int64_t number, const std::string& sha256) override;
  bool announce(int64_t lease, const std::string& shard) override;
  bool finish(int64_t lease, std::span<const RecordingResult> results,
              const std::optional<data::ShardEntry>& shard) override;
  int64_t requeue_failed() override;
  int64_t requeue_shard(const std::string& shard) override;
  TableCounts counts() override;
  std::vector<SetAside> set_aside() override;
  Json options() override;
  void with_shards(const std::function<void(std::span<const TableShard>)>& use) override;
  void require_alone() override;

 private:
  // After which recording the next ones wait. Claimed ones leave dead entries in the index until
  // the next vacuum; a claim need not pass over them again.
  struct Cursor {
    double rank = -std::numeric_limits<double>::infinity();
    int64_t number = 0;
  };
  using Clock = std::chrono::steady_clock;

  void open(const PostgresJob& job);
  int64_t copy_rows(const std::string& rows);

  // Runs `body` in a transaction that shares the list of shards with others who list theirs.
  bool share_list(const std::function<bool()>& body);

  // All within a transaction.
  void lock_list();
  PostgresRows pick(int64_t most);
  // Keeps the lease from ending until the transaction does.
  bool holds(int64_t lease);
  void end_old_leases();
  // The hashes of claimed recordings, as an array.
  std::string hashes_of(const std::vector<int64_t>& leases);
  // Duplicates of `hashes` that are no longer those of a claimed or done recording wait again.
  void free_duplicates(const std::string& hashes);
  void drop(const std::vector<int64_t>& leases);
  void write(int64_t lease, std::span<const RecordingResult> results, const std::string& shard);
  bool was_committed(std::span<const RecordingResult> results, const std::string& shard);

  std::mutex mutex_;
  Postgres database_;
  double lease_s_;
  int64_t job_ = 0;
  std::string name_, output_, mark_;
  std::string write_back_sql_;
  Cursor cursor_;
  Clock::time_point cursor_since_ = Clock::now();
};

}  // namespace hum::app

// The recordings to extract features from, and what became of each. Any number of processes share
// one table: each claims some recordings for a time, the lease, and renews it while it works. The
// table is the truth: a shard that it does not list counts as not written (shard_store.h).
//
// Behind it is a file of SQLite for the processes of one host (sqlite_table.h), or a PostgreSQL
// server for those of several (postgres_table.h). Each is filled in its way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/enum_names.h"
#include "base/json.h"
#include "data/shards/manifest.h"

namespace hum::app {

enum class RecordingState {
  kWaiting,
  kClaimed,
  kDone,
  kFailed,     // set aside, with the reason
  kDuplicate,  // another recording has the same bytes
};
inline EnumNames<RecordingState> enum_names(RecordingState) {
  static constexpr std::pair<RecordingState, std::string_view> kNames[] = {
      {RecordingState::kWaiting, "waiting"},
      {RecordingState::kClaimed, "claimed"},
      {RecordingState::kDone, "done"},
      {RecordingState::kFailed, "failed"},
      {RecordingState::kDuplicate, "duplicate"}};
  return kNames;
}

struct ClaimedRecording {
  int64_t number = 0;
  std::string location;        // an absolute path
  std::string reference = {};  // that of a mono version; empty: the mean of the channels
  std::string licence = {};
};

// The right to some recordings until the lease ends.
struct Claim {
  int64_t lease = 0;
  std::vector<ClaimedRecording> recordings;  // none: nothing waits
};

// What the windows of a recording became.
struct WindowCounts {
  int64_t kept = 0, silent = 0, without_notes = 0;
};

struct RecordingResult {
  int64_t number = 0;
  std::string failure;  // why it is set aside; empty: it is done
  double seconds = 0;
  WindowCounts windows = {};
};

// Whether a claimed recording is the first one with its bytes.
enum class Content { kNew, kDuplicate, kLeaseLost };

struct TableCounts {
  int64_t waiting = 0, claimed = 0, done = 0, failed = 0, duplicate = 0;
  double seconds = 0;  // of sound that is done
  WindowCounts windows = {};
  // Sets the number of the recordings in a state; seconds and windows count only if they are done.
  void set(RecordingState state, int64_t count, double seconds_of_them,
           const WindowCounts& of_them);
  int64_t all() const { return waiting + claimed + done + failed + duplicate; }
  bool is_finished() const { return waiting + claimed == 0; }
};

struct SetAside {
  int64_t number = 0;
  std::string location, reason;
};

struct TableShard {
  data::ShardEntry entry;
  bool is_listed = false;  // false: a process that holds a lease may list it yet
};

// Calls from several threads and processes are safe. Each is one transaction, which a power cut
// after its return does not undo. Times are those of the database's clock. Throws, all calls:
// kCannotCreate, kNoPermission, kTemporary if others hold the database for too long, kFailure for
// a damaged one.
class RecordingTable {
 public:
  virtual ~RecordingTable() = default;

  // Ends the leases that are over, then takes up to `most` waiting recordings. A recording whose
  // process ended without a word is taken alone, so that it takes no others with it if it is the
  // reason; after kMostAttempts it fails.
  static constexpr int64_t kMostAttempts = 8;
  virtual Claim claim(int64_t most) = 0;
  // False: the lease is lost.
  virtual bool renew(int64_t lease) = 0;

  // Notes the hash of a claimed recording. A duplicate of one that is done or claimed leaves the
  // claim; it waits again once that one is neither.
  virtual Content note_content(int64_t lease, int64_t number, const std::string& sha256) = 0;
  // To be called before a shard is stored. False: the lease is lost.
  virtual bool announce(int64_t lease, const std::string& shard) = 0;
  // Lists the shard and ends the lease. Recordings of the claim without a result wait again.
  // False: the lease is lost, and nothing has changed.
  virtual bool finish(int64_t lease, std::span<const RecordingResult> results,
                      const std::optional<data::ShardEntry>& shard) = 0;

  // Lets the recordings that failed wait again; returns how many.
  virtual int64_t requeue_failed() = 0;
  // Lets the recordings of a listed shard wait again, and takes it off the list.
  virtual int64_t requeue_shard(const std::string& shard) = 0;

  virtual TableCounts counts() = 0;
  virtual std::vector<SetAside> set_aside() = 0;
  // What all features are made with.
  virtual Json options() = 0;
  // Ends the leases that are over, and shows all shards in order of their names. No shard is
  // announced or listed meanwhile. If the connection is lost, calls `use` again with the shards of
  // that time.
  virtual void with_shards(const std::function<void(std::span<const TableShard>)>& use) = 0;
  // `use` calls it before each step that cannot be undone. Throws if others may announce or list
  // shards by now; with_shards() then calls `use` again.
  virtual void require_alone() = 0;
};

// ---- For the tables ----

// The reason why a recording fails after kMostAttempts.
std::string too_many_attempts();
// Throws: kUsage if the features in `place` are made with options other than `wanted`.
void require_same_options(const std::string& stored, const Json& wanted, const std::string& place);

}  // namespace hum::app

// What the service must never lose: jobs, their queue, uploads and idempotency keys. The record of
// a job is the truth; a queue entry is no more than its id. SQLite is behind it (sqlite_records.h);
// PostgreSQL, or a table with SQS, fits behind the same calls. Sounds are in the Store (store.h).
//
// Every call is one transaction, and holds when the call returns, also after a power cut; only
// progress(), renew() and the list of workers may then be lost. Calls from several threads and
// processes are safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/enum_names.h"
#include "base/json.h"

namespace hum::serve {

enum class Task { kNotes, kGenerate, kArrange, kSeparate, kRemix };
inline EnumNames<Task> enum_names(Task) {
  static constexpr std::pair<Task, std::string_view> kNames[] = {{Task::kNotes, "notes"},
                                                                 {Task::kGenerate, "generate"},
                                                                 {Task::kArrange, "arrange"},
                                                                 {Task::kSeparate, "separate"},
                                                                 {Task::kRemix, "remix"}};
  return kNames;
}
// Whether the recording is a song, whose channels count.
inline bool hears_song(Task task) { return task == Task::kSeparate || task == Task::kRemix; }

enum class Status { kQueued, kRunning, kDone, kFailed, kCancelled };
inline EnumNames<Status> enum_names(Status) {
  static constexpr std::pair<Status, std::string_view> kNames[] = {
      {Status::kQueued, "queued"},
      {Status::kRunning, "running"},
      {Status::kDone, "done"},
      {Status::kFailed, "failed"},
      {Status::kCancelled, "cancelled"}};
  return kNames;
}
// Whether a job with this status will not change any more.
inline bool is_final(Status status) {
  return status != Status::kQueued && status != Status::kRunning;
}

// Times are milliseconds since 1970.
int64_t now_ms();
// 128 random bits in hex.
std::string new_id();

// A decoded sound: a wav in the store at upload_key(id).
struct Upload {
  std::string id, caller;
  std::string job;  // it came with this job and goes with it; empty: uploaded on its own
  double seconds = 0;
  Json source;  // of the decoder, for the warnings about the recording
  int64_t created_ms = 0, expires_ms = 0;
  int64_t bytes = 0;  // of the wav
};

// What a caller asked for. It never changes.
struct JobRequest {
  std::string id, caller;
  Task task = Task::kGenerate;
  Json options;                         // JobOptions (job_options.h)
  Json notes;                           // to play instead of hearing the upload; or null
  std::string upload, timbre, backing;  // ids of uploads; empty: none
  // Set by accept(): the seconds of the recording or the notes, times the takes.
  double work_s = 0;
};

inline constexpr double kAnyWork_s = 1e9;

struct Job {
  JobRequest request;
  int64_t number = 0;  // in order of acceptance
  Status status = Status::kQueued;
  std::string
      stage;  // of a running job: "separate", "hear", "play", "write"; empty: has just begun
  double progress = 0;  // 0..1
  std::optional<double> seconds_left;
  Json heard;                    // the notes and what is known about them; null: not yet
  Json results = Json::array();  // {"name", "type", "bytes", "seconds"}
  Json error;                    // {"title", "detail", "hint"}; null: none
  int64_t attempts = 0;          // that began and were not returned
  int64_t version = 0;           // grows with every change
  int64_t created_ms = 0, ended_ms = 0;
};

// What changes of a job while it is watched.
struct JobState {
  int64_t version = 0;   // Job::version
  int64_t position = 0;  // in the queue, 1 is next; 0: not in the queue
  bool operator==(const JobState&) const = default;
};

// The first use of a key by a caller fixes its answer.
struct IdempotencyKey {
  std::string key;
  std::string fingerprint;  // a hash of the whole request
};

// What a caller may use; 0: no limit. A limit that is reached refuses what comes next, so that a
// single request may exceed it.
struct Quota {
  int64_t jobs = 0;             // waiting and running
  double seconds_per_hour = 0;  // of sound to make: recordings, or given notes, times takes
  int64_t bytes = 0;            // of uploads and of all files of jobs

  bool operator==(const Quota&) const = default;
};

// A limit that a caller has reached.
struct ReachedLimit {
  std::string name;    // of Quota's field
  std::string detail;  // "this key has 20 jobs that wait or run, and may have 20"
  std::string hint;
  int64_t retry_after_s = 0;
};

struct Acceptance {
  enum Outcome {
    kAccepted,
    kRepeated,
    kOtherRequest,
    kQueueFull,
    kNoUpload,
    kOverQuota
  } outcome = kAccepted;
  std::string id;        // of the new job or upload, or of the first one with this key
  int64_t position = 0;  // in the queue when the job was accepted; 1 is next
  std::string missing;   // kNoUpload: the id that is unknown or has expired
  std::optional<ReachedLimit> limit = std::nullopt;  // kOverQuota
};

// The right of one worker to one attempt at a job.
struct Lease {
  std::string job, owner;
  int64_t attempt = 0;
};

struct Progress {
  std::string stage;
  double progress = 0;
  std::optional<double> seconds_left;
  int64_t stream_bytes = 0;  // of the sound that can be heard so far
};

// What a caller reads about a job that hum gave up.
Json given_up_error();

// A job that hum gave up, and why.
struct DeadLetter {
  std::string job, reason;
  int64_t attempts = 0, at_ms = 0;
};

struct QueueRules {
  std::chrono::milliseconds lease{15'000};  // without a heartbeat
  // Doubles with each attempt.
  std::chrono::milliseconds first_backoff{500}, longest_backoff{30'000};
  // A worker may die for reasons that have nothing to do with its job, so this is not small.
  int64_t max_attempts = 8;
  // After so many, a job runs alone in its worker: if it kills workers, no other job dies with it.
  int64_t shared_attempts = 2;
  int64_t max_waiting = 1'000;
  std::chrono::milliseconds keep_results{7 * 24 * 3'600'000LL};
  std::chrono::milliseconds keep_keys{24 * 3'600'000LL};
  std::function<Quota(const std::string& caller)> quota_of = nullptr;  // absent: no limits
};

// What sweep() found.
struct Swept {
  int64_t requeued = 0, dead = 0;
  std::vector<std::string> removed_jobs, removed_uploads;  // whose sounds the caller now removes
};

// Whose sounds the caller now removes from the store, besides those of the job.
struct Removed {
  std::vector<std::string> uploads;
};

struct Counts {
  int64_t queued = 0, running = 0, done = 0, failed = 0, uploads = 0, dead_letters = 0;
};

struct WorkerInfo {
  std::string owner;
  bool is_ready = false;  // its models are loaded
};

class Records {
 public:
  virtual ~Records() = default;

  // kRepeated or kOtherRequest if the caller has used the key before.
  virtual std::optional<Acceptance> earlier(const std::string& caller,
                                            const IdempotencyKey& key) = 0;

  // The limit that refuses the caller's next job or upload; accept() and add_upload() check it too.
  virtual std::optional<ReachedLimit> reached_limit(const std::string& caller, bool is_job) = 0;

  // ---- Uploads ----
  virtual Acceptance add_upload(const Upload& upload, const std::optional<IdempotencyKey>& key) = 0;
  // Absent: unknown, expired, or another caller's.
  virtual std::optional<Upload> upload(const std::string& caller, const std::string& id) = 0;
  // For workers, expired or not.
  virtual std::optional<Upload> any_upload(const std::string& id) = 0;
  // Absent if there is none. One that an unfinished job needs is hidden now and removed later.
  virtual std::optional<Removed> remove_upload(const std::string& caller,
                                               const std::string& id) = 0;

  // ---- Jobs ----
  // Queues a job together with the uploads that came with it, whose sounds are already in the
  // store.
  virtual Acceptance accept(const JobRequest& job, const std::vector<Upload>& own_uploads,
                            const std::optional<IdempotencyKey>& key) = 0;
  virtual std::optional<Job> job(const std::string& caller, const std::string& id) = 0;
  // Regardless of the caller.
  virtual std::optional<Job> any_job(const std::string& id) = 0;
  // Newest first, those with a number below `before`.
  virtual std::vector<Job> list(const std::string& caller, int64_t limit,
                                std::optional<int64_t> before) = 0;
  // Of a queued job; 1 is next. Later jobs of other callers may still go before it: see claim().
  virtual int64_t position(const Job& job) = 0;
  // By id; those that exist.
  virtual std::map<std::string, JobState> states(const std::vector<std::string>& ids) = 0;
  // Ends the job wherever it is and forgets it, its keys and dead letters. Absent if there is none.
  // The next sweep() makes sure that nothing of it is left on the disk.
  virtual std::optional<Removed> remove_job(const std::string& caller, const std::string& id) = 0;
  // Counts a file that was made of the job's results against Quota::bytes.
  virtual void add_bytes(const std::string& job, int64_t bytes) = 0;

  // ---- The queue ----
  // Leases a job that is due and has at most this much work. Callers with the fewest running jobs
  // go first; of these, those who want notes only; then the caller who was served longest ago. Each
  // caller's oldest job goes first. Absent: none is due, or the next one, or one that the owner
  // has, must run alone (QueueRules::shared_attempts).
  virtual std::optional<std::pair<Job, Lease>> claim(const std::string& owner,
                                                     double most_work_s = kAnyWork_s) = 0;
  // Whether there is one.
  virtual bool any_due(double most_work_s = kAnyWork_s) = 0;
  // These do nothing and return false when the lease is lost: the job was removed, or it was given
  // to another worker because this one seemed dead.
  virtual bool renew(const Lease& lease) = 0;
  virtual bool progress(const Lease& lease, const Progress& progress) = 0;
  virtual bool set_heard(const Lease& lease, const Json& heard) = 0;
  virtual bool finish(const Lease& lease, const Json& results) = 0;
  // The job's own fault: there is no second attempt.
  virtual bool fail_job(const Lease& lease, const Json& error) = 0;
  // Not the job's fault: queues it again after a back-off, or, after max_attempts, fails it with
  // `error` and keeps a dead letter with `reason`, which only operators see.
  virtual bool retry(const Lease& lease, const Json& error, const std::string& reason) = 0;
  // The machine's fault, such as a full disk: queues it again after the longest back-off, as often
  // as it takes, and does not count the attempt.
  virtual bool postpone(const Lease& lease) = 0;
  // Returns the job to the front of the queue as if it had not begun.
  virtual bool give_back(const Lease& lease) = 0;
  virtual std::vector<DeadLetter> dead_letters() = 0;

  // ---- Care ----
  // Ends expired leases and those of dead owners as retry() does, forgets dead workers, removes
  // what has expired.
  virtual Swept sweep(const std::function<bool(const std::string& owner)>& is_dead) = 0;
  virtual Counts counts() = 0;
  // Says that a worker lives. Workers that have not done so for a lease are forgotten.
  virtual void report_worker(const WorkerInfo& worker) = 0;
  virtual std::vector<WorkerInfo> workers() = 0;
  virtual void forget_worker(const std::string& owner) = 0;
  // Waits until somebody else changed a record, at most this long. False if nobody did.
  virtual bool wait_for_change(std::chrono::milliseconds at_most) = 0;
};

}  // namespace hum::serve

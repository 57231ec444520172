// Records in one SQLite file, in WAL mode. docs/service.md has the tables.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/sqlite.h"
#include "serve/storage/records.h"

namespace hum::serve {

class SqliteRecords : public Records {
 public:
  // Creates the file and its tables; only its owner may open it afterwards. Throws: kBadData for a
  // damaged file, kConfig for one of a newer hum, kCannotCreate, kNoPermission.
  explicit SqliteRecords(const std::filesystem::path& file, const QueueRules& rules = {});

  std::optional<Acceptance> earlier(const std::string& caller, const IdempotencyKey& key) override;

  std::optional<ReachedLimit> reached_limit(const std::string& caller, bool is_job) override;

  Acceptance add_upload(const Upload& upload, const std::optional<IdempotencyKey>& key) override;
  std::optional<Upload> upload(const std::string& caller, const std::string& id) override;
  std::optional<Upload> any_upload(const std::string& id) override;
  std::optional<Removed> remove_upload(const std::string& caller, const std::string& id) override;

  Acceptance accept(const JobRequest& job, const std::vector<Upload>& own_uploads,
                    const std::optional<IdempotencyKey>& key) override;
  std::optional<Job> job(const std::string& caller, const std::string& id) override;
  std::optional<Job> any_job(const std::string& id) override;
  std::vector<Job> list(const std::string& caller, int64_t limit,
                        std::optional<int64_t> before) override;
  int64_t position(const Job& job) override;
  std::map<std::string, JobState> states(const std::vector<std::string>& ids) override;
  std::optional<Removed> remove_job(const std::string& caller, const std::string& id) override;
  void add_bytes(const std::string& job, int64_t bytes) override;

  std::optional<std::pair<Job, Lease>> claim(const std::string& owner,
                                             double most_work_s = kAnyWork_s) override;
  bool any_due(double most_work_s = kAnyWork_s) override;
  bool renew(const Lease& lease) override;
  bool progress(const Lease& lease, const Progress& progress) override;
  bool set_heard(const Lease& lease, const Json& heard) override;
  bool finish(const Lease& lease, const Json& results) override;
  bool fail_job(const Lease& lease, const Json& error) override;
  bool retry(const Lease& lease, const Json& error, const std::string& reason) override;
  bool postpone(const Lease& lease) override;
  bool give_back(const Lease& lease) override;
  std::vector<DeadLetter> dead_letters() override;

  Swept sweep(const std::function<bool(const std::string& owner)>& is_dead) override;
  Counts counts() override;
  void report_worker(const WorkerInfo& worker) override;
  std::vector<WorkerInfo> workers() override;
  void forget_worker(const std::string& owner) override;
  bool wait_for_change(std::chrono::milliseconds at_most) override;

 private:
  // These run inside the caller's transaction.
  std::optional<Acceptance> earlier_use(const std::string& caller, const IdempotencyKey& key);
  void remember(const std::string& caller, const IdempotencyKey& key, const std::string& subject,
                int64_t position);
  // ---- sqlite_quota.cpp ----
  // Whether the owner may run a job of so many attempts now: see QueueRules::shared_attempts.
  bool may_share(const std::string& owner, int64_t attempts);
  std::optional<ReachedLimit> limit_of(const std::string& caller, bool is_job);
  std::optional<ReachedLimit> hourly_limit(const std::string& caller, double seconds);
  // Counts a job against its caller's hour, also when the job is removed.
  void count_use(const JobRequest& job);
  void insert(const Upload& upload);
  void insert(const JobRequest& job);
  // Those in the queue, by id.
  std::map<std::string, JobState> queued();
  // How many there are.
  std::map<std::string, int64_t> waiting_by_caller();
  bool holds(const Lease& lease);
  bool return_unbegun(const Lease& lease, int64_t due_ms);
  void end(const std::string& job, Status status, const Json& results, const Json& error);
  // Queues a job again, or gives it up. Returns whether it was given up.
  bool requeue(const std::string& job, int64_t attempts, const Json& error,
               const std::string& reason);
  void forget(const std::string& job);
  // Deletes the uploads that have expired and that no unfinished job needs.
  std::vector<std::string> delete_expired_uploads();
  int64_t data_version();

  QueueRules rules_;
  std::mutex mutex_;
  Database durable_;
  Database quick_;  // for what may be lost in a power cut
  int64_t seen_version_ = 0;
  bool has_deleted_ = false;  // something that is still in the log
};

}  // namespace hum::serve

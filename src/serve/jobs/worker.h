// A worker: takes jobs from the queue and performs a few at a time, in turns (turns.h), with models
// that stay loaded. It survives any job. If it is killed, another worker repeats its unfinished
// jobs.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/play/performance.h"
#include "app/separation/stem_models.h"
#include "serve/jobs/estimates.h"
#include "serve/jobs/turns.h"
#include "serve/storage/records.h"
#include "serve/storage/store.h"

namespace hum::serve {

struct WorkerOptions {
  std::string owner;    // its name in leases; new for every worker
  std::string weights;  // as in ConversionOptions
  // Where Spleeter's weights are looked for.
  std::filesystem::path spleeter = models::spleeter::default_weights_path();
  int at_once = 4;  // jobs that take turns
  // Jobs that run the models at the same time: a window alone does not keep two cores busy.
  int turns_at_once = 2;
  // Of jobs with more work than this, one at a time runs, so that others find a place beside it.
  double long_work_s = 60;
  std::chrono::milliseconds heartbeat{500};
  // After a request to stop, a job gets this long to end; then it goes back to the queue.
  std::chrono::milliseconds drain{20'000};
  std::function<bool()> must_stop;  // polled, also from another thread
};

class Worker {
 public:
  class Attempt;

  Worker(Records& records, Store& store, WorkerOptions options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Loads the models, then works until must_stop(). Throws: what LoadedModels throws, and errors of
  // the records that last.
  void run();

 private:
  bool is_long(const Job& job) const { return job.request.work_s > options_.long_work_s; }
  // Performs one job after another. Runs in several threads.
  void work();
  // Absent: the worker must stop.
  std::optional<std::pair<Job, Lease>> wait_for_job();
  void perform(const Job& job, const Lease& lease);
  // The error that ended an attempt; kOk: none.
  struct Fault {
    ExitCode code = ExitCode::kOk;
    std::string message, hint;
  };
  // Runs an attempt to its end and returns its fault.
  Fault run_attempt(const Job& job, Attempt& attempt);
  // Records how the attempt ended.
  void settle(const Lease& lease, const Attempt& attempt, const Fault& fault);
  // The heart: says that worker and job are alive, and asks whether they still hold their
  // leases.
  void beat(const std::stop_token& stop);

  Records& records_;
  Store& store_;
  WorkerOptions options_;
  app::SharedStemModels stem_models_;
  StageRates rates_;
  std::shared_ptr<app::LoadedModels> models_;
  Turns turns_;  // at the models
  std::atomic<bool> is_ready_ = false, has_long_job_ = false;
  std::mutex claim_mutex_;  // held by the thread that waits for the next job
  std::mutex mutex_;
  std::vector<Attempt*> attempts_;  // those that run, guarded by mutex_
  std::jthread heart_;              // last: it uses the others
};

}  // namespace hum::serve

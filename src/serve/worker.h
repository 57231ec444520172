// A worker: takes jobs from the queue, one after another, and performs them with models that stay
// loaded. It survives any job; what it leaves unfinished when it is killed, another one does again.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/play/performance.h"
#include "serve/estimates.h"
#include "serve/records.h"
#include "serve/store.h"

namespace hum::serve {

struct WorkerOptions {
  std::string owner;    // its name in leases; new for every worker
  std::string weights;  // as in ConversionOptions
  std::chrono::milliseconds heartbeat{500};
  // After a request to stop, a job gets this long to end; then it goes back to the queue.
  std::chrono::milliseconds drain{20'000};
  std::function<bool()> must_stop;  // polled, also from another thread
};

class Worker {
 public:
  Worker(Records& records, Store& store, WorkerOptions options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Loads the models, then works until must_stop(). Throws: what LoadedModels throws, and errors of
  // the records that last.
  void run();

 private:
  class Attempt;

  void work();
  void perform(const Job& job, const Lease& lease);
  // The error that ended an attempt; kOk: none.
  struct Fault {
    ExitCode code = ExitCode::kOk;
    std::string message, hint;
  };
  // Records how the attempt ended.
  void settle(const Lease& lease, const Attempt& attempt, const Fault& fault);
  // The heart: says that worker and job are alive, and asks whether they may go on.
  void beat(const std::stop_token& stop);

  Records& records_;
  Store& store_;
  WorkerOptions options_;
  Estimates estimates_;
  std::shared_ptr<app::LoadedModels> models_;
  std::atomic<bool> is_ready_ = false;
  std::mutex mutex_;
  Attempt* attempt_ = nullptr;  // the current one, guarded by mutex_
  std::jthread heart_;          // last: it uses the others
};

}  // namespace hum::serve

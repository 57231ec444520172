#include "serve/worker.h"

#include <utility>

#include "base/log.h"
#include "serve/attempt_impl.h"
#include "serve/job_options.h"
#include "serve/job_work.h"

namespace hum::serve {
namespace {

constexpr std::chrono::milliseconds kIdleWait{250};

// Whether another attempt would end the same way.
bool is_fault_of_job(ExitCode code) {
  return code == ExitCode::kUsage || code == ExitCode::kBadData || code == ExitCode::kConfig;
}

}  // namespace

Worker::Worker(Records& records, Store& store, WorkerOptions options)
    : records_(records), store_(store), options_(std::move(options)) {
  heart_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
}

Worker::~Worker() {
  heart_.request_stop();
  if (heart_.joinable()) heart_.join();
  try {
    records_.forget_worker(options_.owner);
  } catch (const Error& error) {
    spdlog::debug("worker {}: {}", options_.owner, error.message());
  }
}

void Worker::beat(const std::stop_token& stop) {
  std::optional<std::chrono::steady_clock::time_point> stop_asked;
  while (!stop.stop_requested()) {
    if (!stop_asked && options_.must_stop()) stop_asked = std::chrono::steady_clock::now();
    const bool is_over =
        stop_asked && std::chrono::steady_clock::now() - *stop_asked > options_.drain;
    try {
      records_.report_worker({options_.owner, is_ready_ && !stop_asked});
      const std::scoped_lock lock(mutex_);
      if (attempt_ != nullptr) {
        if (is_over) attempt_->hand_over();
        if (!records_.renew(attempt_->lease())) attempt_->lose();
      }
    } catch (const Error& error) {
      // A full or busy disk: the next beat may succeed, and the lease outlasts several of them.
      spdlog::warn("worker {}: {}", options_.owner, error.message());
    }
    std::this_thread::sleep_for(options_.heartbeat);
  }
}

void Worker::run() {
  models_ = std::make_shared<app::LoadedModels>(options_.weights);
  app::warm_up(models_);
  is_ready_ = true;
  records_.report_worker({options_.owner, true});
  spdlog::info("worker {} is ready", options_.owner);
  work();
}

void Worker::work() {
  while (!options_.must_stop()) {
    try {
      if (auto claimed = records_.claim(options_.owner)) {
        perform(claimed->first, claimed->second);
      } else {
        records_.wait_for_change(kIdleWait);
      }
    } catch (const Error& error) {
      // Of the records or the store, not of the job: the lease ends on its own.
      spdlog::error("worker {}: {}", options_.owner, error.message());
      std::this_thread::sleep_for(kIdleWait);
    }
  }
}

void Worker::perform(const Job& job, const Lease& lease) {
  Attempt attempt(records_, lease, estimates_);
  {
    const std::scoped_lock lock(mutex_);
    attempt_ = &attempt;
  }
  JobWork work(records_, store_, estimates_, models_, job, lease,
               [&](std::string_view stage, double done) { attempt.report(stage, done); });
  Fault fault;
  try {
    const Json results = work.run();
    attempt.end_stage();
    if (!records_.finish(lease, results)) attempt.lose();
  } catch (const Error& error) {
    fault = {error.code(), error.message(), hint_for_callers(error)};
  } catch (const std::exception& error) {
    fault = {ExitCode::kFailure, error.what(), ""};
  }
  {
    const std::scoped_lock lock(mutex_);
    attempt_ = nullptr;
  }
  settle(lease, attempt, fault);
}

void Worker::settle(const Lease& lease, const Attempt& attempt, const Fault& fault) {
  const auto& [code, message, hint] = fault;
  bool is_held = !attempt.is_lost();
  if (code == ExitCode::kOk) {
    spdlog::info("job {}: {}", lease.job, is_held ? "done" : "was taken away when it was done");
  } else if (is_held && attempt.is_handed_over()) {
    is_held = records_.give_back(lease);
    spdlog::info("job {}: goes back to the queue", lease.job);
  } else if (is_held && is_fault_of_job(code)) {
    is_held = records_.fail_job(
        lease, {{"title", "The job cannot be done"}, {"detail", message}, {"hint", hint}});
    spdlog::info("job {}: failed", lease.job);
  } else if (is_held) {
    is_held = records_.retry(lease, given_up_error(), message);
    spdlog::warn("job {}: attempt {} failed: {}", lease.job, lease.attempt, message);
  }
  // A job that was removed while it ran leaves nothing behind.
  if (!is_held && !records_.any_job(lease.job)) store_.remove_all(job_prefix(lease.job));
}

}  // namespace hum::serve

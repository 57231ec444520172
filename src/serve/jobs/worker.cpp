#include "serve/jobs/worker.h"

#include <utility>

#include "base/log.h"
#include "serve/jobs/attempt_impl.h"
#include "serve/jobs/job_options.h"
#include "serve/jobs/job_work.h"

namespace hum::serve {
namespace {

constexpr std::chrono::milliseconds kIdleWait{250};

// Whether another attempt would end the same way.
bool is_fault_of_job(ExitCode code) {
  return code == ExitCode::kUsage || code == ExitCode::kBadData || code == ExitCode::kConfig;
}

// A full or busy disk, for example: every job would fail now, and none later.
bool is_fault_of_machine(ExitCode code) {
  return code == ExitCode::kCannotCreate || code == ExitCode::kNoPermission ||
         code == ExitCode::kTemporary;
}

}  // namespace

Worker::Worker(Records& records, Store& store, WorkerOptions options)
    : records_(records),
      store_(store),
      options_(std::move(options)),
      // Spleeter alone is enough for some jobs; require_stem_models refuses the others.
      stem_models_(
          {.weights = options_.weights, .only_vocals = true, .spleeter = options_.spleeter}),
      turns_(options_.turns_at_once) {
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
      for (Attempt* attempt : attempts_) {
        if (is_over) attempt->hand_over();
        if (!records_.renew(attempt->lease())) attempt->lose();
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
  std::vector<std::jthread> threads;
  for (int i = 0; i < options_.at_once; ++i) threads.emplace_back([this] { work(); });
}

void Worker::work() {
  while (const auto claimed = wait_for_job()) {
    const auto& [job, lease] = *claimed;
    try {
      perform(job, lease);
    } catch (const Error& error) {
      // Of the records or the store, not of the job: the lease ends on its own.
      spdlog::error("worker {}: {}", options_.owner, error.message());
      std::this_thread::sleep_for(kIdleWait);
    }
    if (is_long(job)) has_long_job_ = false;
  }
}

std::optional<std::pair<Job, Lease>> Worker::wait_for_job() {
  const std::scoped_lock lock(claim_mutex_);
  while (!options_.must_stop()) {
    try {
      auto claimed =
          records_.claim(options_.owner, has_long_job_ ? options_.long_work_s : kAnyWork_s);
      if (claimed) {
        if (is_long(claimed->first)) has_long_job_ = true;
        return claimed;
      }
      records_.wait_for_change(kIdleWait);
    } catch (const Error& error) {
      spdlog::error("worker {}: {}", options_.owner, error.message());
      std::this_thread::sleep_for(kIdleWait);
    }
  }
  return std::nullopt;
}

void Worker::perform(const Job& job, const Lease& lease) {
  Attempt attempt(records_, lease, rates_);
  {
    const std::scoped_lock lock(mutex_);
    attempts_.push_back(&attempt);
  }
  const Fault fault = run_attempt(job, attempt);
  {
    const std::scoped_lock lock(mutex_);
    std::erase(attempts_, &attempt);
  }
  settle(lease, attempt, fault);
}

Worker::Fault Worker::run_attempt(const Job& job, Attempt& attempt) {
  Turns::Place place(turns_, job.request.caller);
  // Only the stages before "write" need the models: results are written beside other jobs.
  const auto report = [&](const JobWork::Step& step) {
    attempt.report(step.stage, step.done, step.stream_bytes);
    if (step.stage == "write" || (step.stage == "play" && step.done >= 1)) {
      place.leave();
    } else {
      place.take(step.is_awaited && !is_long(job));
    }
  };
  try {
    JobWork work(records_, store_, attempt.estimates(), models_, stem_models_, job, attempt.lease(),
                 report);
    attempt.finish(work.run());
    return {};
  } catch (const Error& error) {
    return {error.code(), error.message(), hint_for_callers(error)};
  } catch (const std::exception& error) {
    return {ExitCode::kFailure, error.what(), ""};
  }
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
  } else if (is_held && is_fault_of_machine(code)) {
    is_held = records_.postpone(lease);
    spdlog::error("job {}: waits: {}", lease.job, message);
  } else if (is_held) {
    is_held = records_.retry(lease, given_up_error(), message);
    spdlog::warn("job {}: attempt {} failed: {}", lease.job, lease.attempt, message);
  }
  // A job that was removed while it ran leaves nothing behind.
  if (!is_held && !records_.any_job(lease.job)) store_.remove_all(job_prefix(lease.job));
}

}  // namespace hum::serve

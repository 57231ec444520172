// One attempt of a worker at a job: what it reports, and why it must stop.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/elapsed.h"
#include "base/error.h"
#include "serve/jobs/worker.h"

namespace hum::serve {

class Worker::Attempt {
 public:
  Attempt(Records& records, Lease lease, StageRates& rates)
      : records_(records), lease_(std::move(lease)), estimates_(rates) {}

  const Lease& lease() const { return lease_; }
  Estimates& estimates() { return estimates_; }

  // From the heart. The reasons stay.
  void lose() { is_lost_ = true; }
  void hand_over() { is_handed_over_ = true; }
  // The heart finds no lease of a job that is done either: that is no loss.
  bool is_lost() const { return is_lost_ && !is_done_; }
  bool is_handed_over() const { return is_handed_over_; }

  // From the work. Throws to stop it.
  void report(std::string_view stage, double done, int64_t stream_bytes) {
    if (is_lost_ || is_handed_over_) fail(ExitCode::kFailure, "the job was stopped");
    const auto now = Clock::now();
    if (stage != stage_) {
      end_stage();
      stage_ = stage;
      stage_start_ = now;
    } else if (now - reported_ < kInterval) {
      return;
    }
    reported_ = now;
    const auto [progress, left_s] =
        estimates_.at(stage_, done, std::chrono::duration<double>(now - stage_start_).count());
    if (!records_.progress(lease_, {stage_, progress, left_s, stream_bytes})) lose();
  }
  void finish(const Json& results) {
    end_stage();
    is_done_ = records_.finish(lease_, results);
    if (!is_done_) lose();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{200};

  void end_stage() {
    if (stage_.empty()) return;
    estimates_.learn(stage_, seconds_since(stage_start_));
    stage_.clear();
  }

  Records& records_;
  Lease lease_;
  Estimates estimates_;
  std::atomic<bool> is_lost_ = false, is_handed_over_ = false, is_done_ = false;
  std::string stage_;
  Clock::time_point stage_start_, reported_;
};

}  // namespace hum::serve

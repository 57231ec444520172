// Log lines for a process that serves: a stderr whose reader has stopped (a full pipe, a terminal
// that is held) must stop nobody who logs.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "base/log.h"

namespace hum {

class BackgroundLog {
 public:
  // Replaces the outputs of the log by `descriptor`, which only a thread of this object writes to.
  // If `most_lines` wait, new lines are dropped; a line tells how many, where they are missing.
  // Make it before other threads log.
  explicit BackgroundLog(int descriptor = 2, size_t most_lines = 1000);
  // Waits up to a second for the lines that still wait, then brings the outputs back. If nobody
  // reads by then, later lines are dropped too, so that the process can end.
  ~BackgroundLog();
  BackgroundLog(const BackgroundLog&) = delete;
  BackgroundLog& operator=(const BackgroundLog&) = delete;

 private:
  struct Queue;

  std::shared_ptr<Queue> queue_;
  std::vector<spdlog::sink_ptr> replaced_;
  std::thread writer_;
};

}  // namespace hum

// Output of a process that serves: a stdout or stderr whose reader has stopped (a full pipe, a
// terminal that is held) must stop nobody who writes or logs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"

namespace hum {

// Writes a text. If its reader does not take it within a second, a thread goes on to write, and the
// call returns. Returns errno if the text cannot be written, else 0.
int write_in_background(int descriptor, std::string text);

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

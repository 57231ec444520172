// Log lines on stderr (spdlog, level from HUM_LOG), and the progress line of long commands.
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <string>

namespace hum {

// Logs go to stderr as "level: text". Level names: trace debug info warn error off (default info).
void init_logging();

// Logs a message once per process for each `key`.
void warn_once(const std::string& key, const std::string& text);

// Shows one status line with an ETA. On a terminal it is redrawn in place at most ten times a
// second; otherwise a line is printed every 30 s. Prints nothing if HUM_LOG is warn or quieter.
class Progress {
 public:
  Progress(std::string what, int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // done: number of items finished; detail: e.g. "loss 2.31, 41k tokens/s".
  void update(int64_t done, const std::string& detail = "");

 private:
  std::string what_;
  int64_t total_;
  int64_t first_ = -1;
  bool is_terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

// "3m 12s", "1h 05m", "850ms".
std::string format_duration(double seconds);

}  // namespace hum

// A program that runs beside this one, for tests and benches of the service.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/sanitizers.h"

namespace hum::serve {

inline constexpr std::chrono::seconds kServicePatience{kHasSanitizer ? 600 : 120};

// Its stderr goes to a file.
class Process {
 public:
  // `command`: its path, then arguments.
  Process(std::vector<std::string> command, const std::filesystem::path& log,
          const std::map<std::string, std::string>& environment = {});
  // Kills it.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // The first line of its stdout; "" if it ends before.
  std::string first_line();
  // What follows on its stdout, until it closes it.
  std::string rest();
  void signal(int number) const;
  // Waits for its end: the exit code, or 128 + signal.
  int wait();
  // Processes that it has started.
  std::vector<pid_t> children() const;

 private:
  pid_t pid_ = 0;
  int out_ = -1;
};

// Not if it has ended and only waits for its parent to notice.
bool is_running(pid_t process);

// What it has in memory (VmRSS). Throws: kFailure if it has ended.
int64_t resident_bytes(pid_t process);

// Polls the condition. False if it does not hold in time.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds patience = kServicePatience);

}  // namespace hum::serve

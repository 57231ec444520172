// A program that runs beside this one, for tests and benches.
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

namespace hum::testing {

inline constexpr std::chrono::seconds kProcessPatience{kHasSanitizer ? 600 : 120};

struct ProcessOptions {
  std::map<std::string, std::string> environment = {};
  std::filesystem::path folder = {};  // to run in; empty: this process's
  // Files that its output is appended to. Empty: a pipe for first_line() and rest(); the stderr of
  // this process.
  std::filesystem::path out = {}, err = {};
  // Largest file that it may write (RLIMIT_FSIZE): simulates a full disk. Negative: any.
  int64_t max_file_bytes = -1;
  // SIGKILL at the end of the thread that starts it, also if that is killed.
  bool ends_with_thread = false;
};

// Processes that this one has started and that are still there.
std::vector<pid_t> children_of(pid_t process);

class Process {
 public:
  // `command`: its path, then arguments.
  explicit Process(std::vector<std::string> command, const ProcessOptions& options = {});
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
  // The largest that it was in memory. After wait().
  int64_t peak_bytes() const { return peak_bytes_; }
  // The processor time that it and those it waited for have used. After wait().
  double processor_s() const { return processor_s_; }
  // Processes that it has started.
  std::vector<pid_t> children() const { return children_of(pid_); }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
  int64_t peak_bytes_ = 0;
  double processor_s_ = 0;
};

// Not if it has ended and only waits for its parent to notice.
bool is_running(pid_t process);

// Whether it handles the signal itself.
bool catches(pid_t process, int signal);

// What it has in memory (VmRSS). Throws: kFailure if it has ended.
int64_t resident_bytes(pid_t process);

// Polls the condition. False if it does not hold in time.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds patience = kProcessPatience);

}  // namespace hum::testing

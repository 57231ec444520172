// Runs a program as a child process that inherits nothing but what it is given.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/open_file.h"

namespace hum {

// How a process ended.
struct ProcessEnd {
  int exit_code = 0;       // -1: a signal ended it
  int signal = 0;          // which; 0: none
  double processor_s = 0;  // what it used
  bool timed_out = false;  // it was killed at the limit
};

struct ChildCommand {
  std::vector<std::string> words;                       // the program's path, then its arguments
  std::map<std::string, std::string> environment = {};  // all of it
  std::filesystem::path folder = {};                    // where it runs; empty: where we do
};

class ChildProcess {
 public:
  // Starts the program. Its descriptors are 0, 1, ... = `files`, and no others. It has a separate
  // process group, which Ctrl-C does not reach, and no signal is blocked or ignored.
  // Throws: kTemporary if the machine has no room for a process, kUnavailable if it cannot start.
  ChildProcess(ChildCommand command, std::span<const int> files);
  // Kills it and what it started, unless end() was called.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // What it has used so far, all its threads together.
  double processor_s() const;
  bool has_ended() const;
  // Waits until it ends, and kills it at the limit, with what it started. To be called once.
  ProcessEnd end(std::chrono::milliseconds limit);

 private:
  pid_t process_;  // 0: it has ended and was collected
  OpenFile handle_;
};

}  // namespace hum

// Runs a program as a child process that inherits nothing but the files it is given.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "decode/memory_file.h"

namespace hum::decode {

// How a child ended.
struct Ending {
  int exit_code = 0;       // -1: a signal ended it
  int signal = 0;          // which; 0: none
  double processor_s = 0;  // what it used
  bool timed_out = false;  // it was killed at the limit
};

class ChildProcess {
 public:
  // Starts `program`. Its descriptors are 0, 1, ... = `files`, and no others; its environment holds
  // only what the loader and sanitizers read. It has a separate process group, which Ctrl-C does
  // not reach, and no signal is blocked or ignored.
  // Throws: kTemporary if the machine has no room for a process, kUnavailable if it cannot start.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
               std::span<const int> files);
  // Kills it, unless end() was called.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // What it has used so far, all its threads together.
  double processor_s() const;
  bool has_ended() const;
  // Waits until it ends, and kills it at the limit. To be called once.
  Ending end(std::chrono::milliseconds limit);

 private:
  pid_t process_;  // 0: it has ended and was collected
  OpenFile handle_;
};

// Runs a program to its end. Throws: what ChildProcess throws.
Ending run_child(const std::string& program, const std::vector<std::string>& arguments,
                 std::span<const int> files, std::chrono::milliseconds limit);

}  // namespace hum::decode

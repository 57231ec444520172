// Runs a program as a child process that inherits nothing but the files it is given.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace hum::decode {

// How a child ended.
struct Ending {
  int exit_code = 0;       // -1: a signal ended it
  int signal = 0;          // which; 0: none
  double processor_s = 0;  // what it used
  bool timed_out = false;  // it was killed at the limit
};

// Runs `program` and waits until it ends. Its descriptors are 0, 1, ... = `files`, and no others;
// its environment holds only what the loader and sanitizers read. It has a separate process group,
// which Ctrl-C does not reach, and no signal is blocked or ignored.
// Throws: kTemporary if the machine has no room for a process, kUnavailable if it cannot start.
Ending run_child(const std::string& program, const std::vector<std::string>& arguments,
                 std::span<const int> files, std::chrono::milliseconds limit);

}  // namespace hum::decode

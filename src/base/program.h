// Runs another program to its end, for tools that exist only as programs. Untrusted input: decode/
// confines its children.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hum {

struct ProgramEnd {
  int exit_code = 0;       // 128 + signal if a signal ended it
  bool timed_out = false;  // it was killed at the limit
  std::string output;      // stdout and stderr
};

// Runs `command`, its path and arguments, in `folder`, with nothing in its environment but
// `environment`, an empty stdin and no other open files. Throws: kUnavailable if it cannot start.
ProgramEnd run_program(std::vector<std::string> command, const std::filesystem::path& folder,
                       const std::map<std::string, std::string>& environment,
                       std::chrono::milliseconds limit);

}  // namespace hum

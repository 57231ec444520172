// Test helpers: the decoders that a test program has started.
#pragma once

#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/testing/process.h"
#include "decode/confined.h"

namespace hum::decode {

inline std::vector<std::string> arguments_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", process));
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

inline std::vector<pid_t> running_decoders() {
  std::vector<pid_t> decoders;
  for (const pid_t child : testing::children_of(::getpid())) {
    const auto arguments = arguments_of(child);
    if (arguments.size() > 1 && arguments[1] == kConfinedDecode) decoders.push_back(child);
  }
  return decoders;
}

}  // namespace hum::decode

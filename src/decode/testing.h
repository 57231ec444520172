// Test helpers: a test program as the child that decodes, and its running children.
#pragma once

#include <gtest/gtest.h>
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

// Takes over before the first test. For one source of a test program:
//   const auto* const kEntry = ::testing::AddGlobalTestEnvironment(new decode::DecoderEntry);
class DecoderEntry : public ::testing::Environment {
 public:
  void SetUp() override {
    auto arguments = arguments_of(::getpid());
    if (arguments.size() < 2 || arguments[1] != kConfinedDecode) return;
    std::vector<char*> texts;
    for (std::string& argument : arguments) texts.push_back(argument.data());
    ::_exit(confined_decode_main(static_cast<int>(texts.size()), texts.data()));
  }
};

}  // namespace hum::decode

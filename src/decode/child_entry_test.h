// What the test program does when it is run as a child: decode, or try what a sandbox must stop.
#pragma once

#include <chrono>
#include <string>

#include "base/child_process.h"

namespace hum::decode {

// Whether the call was refused with "not permitted", as the exit code of a misdeed.
constexpr int kRefused = 42, kWentThrough = 43;

// Runs this program again, in a sandbox, to try one thing (child_entry_test.cpp lists them). Its
// fourth file is `result`.
ProcessEnd try_misdeed(const std::string& sandbox, const std::string& misdeed, int result,
                       std::chrono::milliseconds limit);
// With an empty file, for up to a minute.
ProcessEnd try_misdeed(const std::string& sandbox, const std::string& misdeed);

}  // namespace hum::decode

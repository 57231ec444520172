// Test helpers for calls that must fail.
#pragma once

#include <string>

#include "base/error.h"

namespace hum::testing {

// The message of the Error that f() throws; "nothing was thrown" if it throws none.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// The exit code of that Error; kOk if f() throws none.
template <class F>
ExitCode code_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::kOk;
}

}  // namespace hum::testing

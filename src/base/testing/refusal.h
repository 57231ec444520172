// For tests of what is refused.
#pragma once

#include <string>

#include "base/error.h"

namespace hum::testing {

// The message of the Error that f() throws; "nothing was thrown" when it throws none.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// Its exit code; kOk when f() throws none.
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

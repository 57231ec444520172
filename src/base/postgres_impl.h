// Shared by the parts of postgres.h.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace hum::internal {

// What an error of the server means.
struct PostgresFault {
  enum class Cause { kStatement, kConnection, kConflict };  // kConflict: with a transaction

  std::string_view state;  // the SQLSTATE, or what it starts with
  ExitCode code;
  const char* hint;
  Cause cause = Cause::kStatement;
};
const PostgresFault& postgres_fault(std::string_view state);

// For failures of libpq without a state.
inline constexpr std::string_view kUnreachable = "08001", kNoPassword = "28P01";

inline std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}
inline std::string text_of(const char* text) { return text != nullptr ? text : ""; }

}  // namespace hum::internal

// The only exception type in hum, the checks that throw it, and the exit codes it maps to.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <source_location>
#include <string>

namespace hum {

// Process exit codes (from sysexits.h where it has one). docs/cli/README.md lists them for users.
enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,
  kUsage = 2,
  kBadData = 65,
  kNoInput = 66,
  kUnavailable = 69,
  kCannotCreate = 73,
  kTemporary = 75,
  kNoPermission = 77,
  kConfig = 78,
};

// An error: what went wrong, what to do about it, and where it was detected.
class Error : public std::exception {
 public:
  Error(ExitCode code, std::string message, std::string hint,
        std::source_location where = std::source_location::current());

  // "message", "while <context>" lines, "hint: ..." (the usual one for the code if none was given).
  const char* what() const noexcept override { return text_.c_str(); }
  ExitCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }
  // "file.cpp:12" of the throwing line.
  std::string where() const;

 private:
  ExitCode code_;
  std::string message_;
  std::string hint_;
  std::string text_;
  std::source_location where_;
};

// Throws an Error for a problem that the user can fix. The message says what is wrong, the hint
// what to do.
[[noreturn]] void fail(ExitCode code, std::string message, std::string hint = "",
                       std::source_location where = std::source_location::current());

// Adds "while <description>" to every Error thrown in its scope. The description is built only if
// an Error is thrown.
class ErrorContext {
 public:
  explicit ErrorContext(std::function<std::string()> describe);
  ~ErrorContext();
  ErrorContext(const ErrorContext&) = delete;
  ErrorContext& operator=(const ErrorContext&) = delete;

 private:
  friend class Error;
  std::function<std::string()> describe_;
  ErrorContext* outer_;
};

namespace internal {
[[noreturn]] void check_failed(const char* condition, std::string message,
                               std::source_location where);
inline std::string message() { return {}; }
template <typename... Args>
std::string message(fmt::format_string<Args...> text, Args&&... args) {
  return fmt::format(text, std::forward<Args>(args)...);
}
}  // namespace internal

// Checks for caller errors: HUM_REQUIRE(n > 0, "iota: size must be positive, got {}", n).
#define HUM_REQUIRE(condition, ...)                                                  \
  do {                                                                               \
    if (!(condition)) [[unlikely]]                                                   \
      ::hum::fail(::hum::ExitCode::kFailure, ::hum::internal::message(__VA_ARGS__)); \
  } while (false)

// Checks for bugs in hum: the condition itself is part of the message.
#define HUM_CHECK(condition, ...)                                                      \
  do {                                                                                 \
    if (!(condition)) [[unlikely]]                                                     \
      ::hum::internal::check_failed(#condition, ::hum::internal::message(__VA_ARGS__), \
                                    std::source_location::current());                  \
  } while (false)

}  // namespace hum

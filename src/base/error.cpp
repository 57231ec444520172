#include "base/error.h"

#include <algorithm>
#include <string_view>

namespace hum {
namespace {

thread_local ErrorContext* innermost_context = nullptr;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// What to do about an error whose thrower names no remedy.
std::string_view usual_hint(ExitCode code) {
  switch (code) {
    case ExitCode::kUsage:
      return "add --help to the command to list its flags";
    case ExitCode::kBadData:
      return "the file is damaged, or not of the kind that the command reads (docs/formats)";
    case ExitCode::kNoInput:
      return "check the path";
    case ExitCode::kUnavailable:
      return "--device names another device, or the path of a plugin";
    case ExitCode::kCannotCreate:
      return "check that the folder exists, is writable and has room";
    case ExitCode::kTemporary:
      return "run the command again later";
    case ExitCode::kNoPermission:
      return "check the permissions of the file and of its folder";
    case ExitCode::kConfig:
      return "compare the file with one in configs/ or hardware/ (docs/formats)";
    case ExitCode::kOk:
    case ExitCode::kFailure:
      break;
  }
  return "if the input is in order, this is a bug in hum; please report it with the command you "
         "ran";
}

// Replaces "user:password" in URLs, wherever the text is from: "postgresql://***@host/database".
std::string without_passwords(std::string text) {
  constexpr std::string_view kScheme = "://", kParameter = "password=";
  for (size_t at = text.find(kScheme); at != text.npos; at = text.find(kScheme, at + 1)) {
    const size_t begin = at + kScheme.size();
    const size_t end = text.find_first_of(" \t\n'\"", begin);
    const std::string_view url = std::string_view(text).substr(begin, end - begin);
    const size_t host = url.rfind('@');
    if (host != url.npos && url.find(':') < host) text.replace(begin, host, "***");
  }
  for (size_t at = text.find(kParameter); at != text.npos; at = text.find(kParameter, at + 1)) {
    const size_t begin = at + kParameter.size();
    const size_t end = std::min(text.find_first_of("& \t\n'\"", begin), text.size());
    text.replace(begin, end - begin, "***");
  }
  return text;
}

// Control characters, as a hostile file or a file's name may hold, would reach the terminal, and a
// NUL would end the text.
std::string visible(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_control = (c >= 0 && c < ' ') || c == '\x7f';
    if (is_control && c != '\n' && c != '\t') {
      result += fmt::format("\\x{:02x}", static_cast<int>(c));
    } else {
      result += c;
    }
  }
  return result;
}

// As people may see it.
std::string printable(const std::string& text) { return without_passwords(visible(text)); }

}  // namespace

Error::Error(ExitCode code, std::string message, std::string hint, std::source_location where)
    : code_(code), message_(std::move(message)), hint_(std::move(hint)), where_(where) {
  if (hint_.empty()) hint_ = usual_hint(code);
  text_ = message_;
  for (auto* context = innermost_context; context != nullptr; context = context->outer_) {
    text_ += "\n  while " + context->describe_();
  }
  text_ = printable(text_ + "\nhint: " + hint_);
  message_ = printable(message_);
  hint_ = printable(hint_);
}

std::string Error::where() const {
  return fmt::format("{}:{}", base_name(where_.file_name()), where_.line());
}

void fail(ExitCode code, std::string message, std::string hint, std::source_location where) {
  throw Error(code, std::move(message), std::move(hint), where);
}

ErrorContext::ErrorContext(std::function<std::string()> describe)
    : describe_(std::move(describe)), outer_(innermost_context) {
  innermost_context = this;
}

ErrorContext::~ErrorContext() { innermost_context = outer_; }

void internal::check_failed(const char* condition, std::string message,
                            std::source_location where) {
  throw Error(ExitCode::kFailure,
              fmt::format("internal check failed at {}:{}: {}{}{}", base_name(where.file_name()),
                          where.line(), condition, message.empty() ? "" : ": ", message),
              "this is a bug in hum; please report it with the command you ran", where);
}

}  // namespace hum

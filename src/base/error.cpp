#include "base/error.h"

#include <string_view>

namespace hum {
namespace {

thread_local ErrorContext* innermost_context = nullptr;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Error::Error(ExitCode code, std::string message, std::string hint, std::source_location where)
    : code_(code), message_(std::move(message)), hint_(std::move(hint)), where_(where) {
  text_ = message_;
  for (auto* context = innermost_context; context != nullptr; context = context->outer_) {
    text_ += "\n  while " + context->describe_();
  }
  if (!hint_.empty()) text_ += "\nhint: " + hint_;
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

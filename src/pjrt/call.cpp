#include "pjrt/call.h"

#include <string_view>

#include "base/error.h"

namespace hum::pjrt {
namespace {

constexpr std::string_view kCodeNames[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

ExitCode exit_code(PJRT_Error_Code code) {
  const bool absent = code == PJRT_Error_Code_UNIMPLEMENTED || code == PJRT_Error_Code_UNAVAILABLE;
  return absent ? ExitCode::kUnavailable : ExitCode::kFailure;
}

std::string hint(const Failure& failure) {
  if (failure.code == PJRT_Error_Code_RESOURCE_EXHAUSTED) {
    return "the device is out of memory: use a smaller batch or shorter input";
  }
  if (failure.message.find("No FFI handler registered") != std::string::npos) {
    return "register the kernel before compiling, or set HUM_KERNELS=0 to use plain ops";
  }
  return "";
}

}  // namespace

std::string Failure::text() const {
  const auto index = static_cast<size_t>(code);
  if (index >= std::size(kCodeNames)) return fmt::format("code {}: {}", index, message);
  // Many plugins already start the message with the code's name.
  if (message.starts_with(kCodeNames[index])) return message;
  return fmt::format("{}: {}", kCodeNames[index], message);
}

std::optional<Failure> take_error(const PJRT_Api& api, PJRT_Error* error) {
  if (error == nullptr) return std::nullopt;
  Failure failure{PJRT_Error_Code_UNKNOWN, ""};

  PJRT_Error_Message_Args message{};
  message.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE;
  message.error = error;
  api.PJRT_Error_Message(&message);
  failure.message.assign(message.message, message.message_size);
  while (failure.message.ends_with('\n')) failure.message.pop_back();

  PJRT_Error_GetCode_Args code{};
  code.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE;
  code.error = error;
  // If GetCode fails, the code stays UNKNOWN; its own error is not reported.
  if (api.PJRT_Error_GetCode(&code) == nullptr) failure.code = code.code;

  PJRT_Error_Destroy_Args destroy{};
  destroy.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE;
  destroy.error = error;
  api.PJRT_Error_Destroy(&destroy);
  return failure;
}

void raise(const char* function, const Failure& failure) {
  fail(exit_code(failure.code), fmt::format("{}: {}", function, failure.text()), hint(failure));
}

void raise_missing(const PJRT_Api& api, const char* function) {
  fail(ExitCode::kUnavailable,
       fmt::format("the plugin has no {} (its PJRT API is {}.{})", function,
                   api.pjrt_api_version.major_version, api.pjrt_api_version.minor_version),
       "use a newer plugin");
}

}  // namespace hum::pjrt

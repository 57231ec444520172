// The only place that calls the C API: fills struct_size, names a function that the plugin lacks,
// and turns an error into a Failure or a hum::Error with the plugin's own text.
#pragma once

#include <pjrt_c_api.h>

#include <optional>
#include <string>

namespace hum::pjrt {

// An error returned by the plugin.
struct Failure {
  PJRT_Error_Code code;
  std::string message;

  // "INVALID_ARGUMENT: ..."
  std::string text() const;
};

// Takes ownership of `error` (null: success).
std::optional<Failure> take_error(const PJRT_Api& api, PJRT_Error* error);
// Throws "<function>: <failure>", with a hint if one is known.
[[noreturn]] void raise(const char* function, const Failure& failure);
[[noreturn]] void raise_missing(const PJRT_Api& api, const char* function);

// `api` is a table padded with nulls after the functions that the plugin filled in (Plugin::api()).
template <typename Function, typename Args>
std::optional<Failure> try_call(const PJRT_Api& api, Function* PJRT_Api::*function,
                                const char* name, size_t struct_size, Args& args) {
  if (api.*function == nullptr) raise_missing(api, name);
  args.struct_size = struct_size;
  return take_error(api, (api.*function)(&args));
}

template <typename Function, typename Args>
void call(const PJRT_Api& api, Function* PJRT_Api::*function, const char* name, size_t struct_size,
          Args& args) {
  if (const auto failure = try_call(api, function, name, struct_size, args)) raise(name, *failure);
}

// HUM_PJRT_CALL(api, PJRT_Client_Compile, args): throws on failure.
#define HUM_PJRT_CALL(api, function, args) \
  ::hum::pjrt::call(api, &PJRT_Api::function, #function, function##_Args_STRUCT_SIZE, args)
// Same, but returns the Failure.
#define HUM_PJRT_TRY(api, function, args) \
  ::hum::pjrt::try_call(api, &PJRT_Api::function, #function, function##_Args_STRUCT_SIZE, args)

}  // namespace hum::pjrt

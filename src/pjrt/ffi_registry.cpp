#include "pjrt/ffi_registry.h"

#include <cstring>
#include <set>
#include <string_view>

#include "base/error.h"
#include "pjrt/call.h"

namespace hum::pjrt {
namespace {

// No wheel contains the FFI extension (xla/pjrt/c/pjrt_c_api_ffi_extension.h), so its structs are
// declared here. Since 2026 register_handler takes no api_version.
struct RegisterArgs {
  size_t struct_size;
  const char* target_name;
  size_t target_name_size;
  void* handler;
  const char* platform_name;
  size_t platform_name_size;
  int traits;
};
constexpr size_t kRegisterArgsSize = offsetof(RegisterArgs, traits) + sizeof(int);
static_assert(kRegisterArgsSize == 52);

struct OldRegisterArgs {
  size_t struct_size;
  const char* target_name;
  size_t target_name_size;
  int api_version;  // 1: typed
  void* handler;
  const char* platform_name;
  size_t platform_name_size;
  int traits;
};
constexpr size_t kOldRegisterArgsSize = offsetof(OldRegisterArgs, traits) + sizeof(int);
static_assert(kOldRegisterArgsSize == 60);

struct FfiExtension {
  PJRT_Extension_Base base;
  void* type_register;
  void* user_data_add;
  PJRT_Error* (*register_handler)(void* args);
};

template <typename Args>
std::optional<Failure> register_one(const Plugin& plugin, const FfiExtension& extension,
                                    const KernelRow& row, const char* platform, Args args,
                                    size_t size) {
  args.struct_size = size;
  args.target_name = row.name;
  args.target_name_size = std::strlen(row.name);
  args.handler = reinterpret_cast<void*>(row.handler);
  args.platform_name = platform;
  args.platform_name_size = std::strlen(platform);
  return take_error(plugin.api(), extension.register_handler(&args));
}

// The new layout is tried first: a plugin that expects the old one rejects it by its size, before
// reading any field. In the opposite order, a new plugin would read api_version as the handler.
std::optional<Failure> register_any(const Plugin& plugin, const FfiExtension& extension,
                                    const KernelRow& row, const char* platform) {
  auto failure = register_one(plugin, extension, row, platform, RegisterArgs{}, kRegisterArgsSize);
  if (!failure || failure->message.find("Register_Handler_Args size") == std::string::npos) {
    return failure;
  }
  return register_one(plugin, extension, row, platform, OldRegisterArgs{.api_version = 1},
                      kOldRegisterArgsSize);
}

// The plugin itself would use the last one.
void require_unique_names(std::span<const KernelRow> rows) {
  std::set<std::string_view> names;
  for (const KernelRow& row : rows) {
    HUM_REQUIRE(names.insert(row.name).second, "two kernels are named {}", row.name);
  }
}

}  // namespace

void register_handlers(const Plugin& plugin, std::span<const KernelRow> rows,
                       const char* platform) {
  if (rows.empty()) return;
  require_unique_names(rows);
  const auto* extension =
      reinterpret_cast<const FfiExtension*>(plugin.extension(PJRT_Extension_Type_FFI));
  if (extension == nullptr || extension->base.struct_size < sizeof(FfiExtension)) {
    fail(ExitCode::kUnavailable,
         fmt::format("plugin {} cannot call kernels: it has no FFI extension",
                     plugin.path().string()),
         "set HUM_KERNELS=0 to use plain ops, or use a newer plugin");
  }
  for (const KernelRow& row : rows) {
    const ErrorContext context(
        [&] { return fmt::format("registering kernel {} on {}", row.name, platform); });
    if (const auto failure = register_any(plugin, *extension, row, platform)) {
      raise("PJRT_FFI_Register_Handler", *failure);
    }
  }
}

}  // namespace hum::pjrt

// The cache key of a compiled program: everything it depends on, field by field, so that a miss can
// be explained.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pjrt/ffi_registry.h"

namespace hum::runtime {

// Named fields in a fixed order; long ones are stored as their SHA-256.
class CacheKey {
 public:
  using Field = std::pair<std::string, std::string>;
  CacheKey() = default;
  explicit CacheKey(std::vector<Field> fields) : fields_(std::move(fields)) {}

  const std::vector<Field>& fields() const { return fields_; }
  // SHA-256 over all fields, lower-case hex.
  std::string hash() const;
  // Names of the fields whose values differ, or that only one of the two has.
  std::vector<std::string> differences(const CacheKey& other) const;
  bool operator==(const CacheKey&) const = default;

 private:
  std::vector<Field> fields_;
};

// Identifies the plugin: the SHA-256 recorded in its wheel (otherwise that of the file, cached in
// `memo_folder` because hashing takes a second), with its size and modification time.
std::string plugin_identity(const std::filesystem::path& plugin,
                            const std::filesystem::path& memo_folder);

// Processor model and a hash of its features: a program for one processor may crash on another.
std::string cpu_identity();

// "name:version, ..." of the kernels that a printed module calls.
std::string kernels_used(std::string_view module_text, std::span<const pjrt::KernelRow> kernels);

}  // namespace hum::runtime

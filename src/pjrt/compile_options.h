// Compile options: devices, replicas and XLA options. Encoded by hand in protobuf's wire format
// (xla.CompileOptionsProto), so that hum does not link protobuf.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace hum::pjrt {

// XLA debug options by name, e.g. {"xla_cpu_scheduler_type",
// "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}. Enum values are strings.
using OptionOverrides = std::map<std::string, std::variant<std::string, bool, int64_t, double>>;

struct CompileOptions {
  // Device id of each replica; the length is the number of replicas. Always one partition.
  std::vector<int> device_ids = {0};
  OptionOverrides overrides;
};

// The serialized xla.CompileOptionsProto; equal options give equal bytes.
std::string serialize(const CompileOptions& options);

}  // namespace hum::pjrt

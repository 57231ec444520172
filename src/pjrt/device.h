// One device of a client: a cheap view, valid while the client lives.
#pragma once

#include <pjrt_c_api.h>

#include <cstdint>
#include <optional>
#include <string>

namespace hum::pjrt {

class Device {
 public:
  Device(const PJRT_Api& api, PJRT_Device* device) : api_(&api), device_(device) {}

  PJRT_Device* get() const { return device_; }
  // Unique across all processes; used in device assignments.
  int id() const;
  // E.g. "cpu", "NVIDIA H200".
  std::string kind() const;
  bool is_addressable() const;

  struct MemoryStats {
    int64_t bytes_in_use = 0;
    std::optional<int64_t> peak_bytes_in_use;
    std::optional<int64_t> bytes_limit;
  };
  // Absent if the plugin has none (CPU).
  std::optional<MemoryStats> memory_stats() const;

 private:
  PJRT_DeviceDescription* description() const;
  const PJRT_Api* api_;
  PJRT_Device* device_;
};

}  // namespace hum::pjrt

#include "pjrt/device.h"

#include "pjrt/call.h"

namespace hum::pjrt {

PJRT_DeviceDescription* Device::description() const {
  PJRT_Device_GetDescription_Args args{};
  args.device = device_;
  HUM_PJRT_CALL(*api_, PJRT_Device_GetDescription, args);
  return args.device_description;
}

int Device::id() const {
  PJRT_DeviceDescription_Id_Args args{};
  args.device_description = description();
  HUM_PJRT_CALL(*api_, PJRT_DeviceDescription_Id, args);
  return args.id;
}

std::string Device::kind() const {
  PJRT_DeviceDescription_Kind_Args args{};
  args.device_description = description();
  HUM_PJRT_CALL(*api_, PJRT_DeviceDescription_Kind, args);
  return {args.device_kind, args.device_kind_size};
}

bool Device::is_addressable() const {
  PJRT_Device_IsAddressable_Args args{};
  args.device = device_;
  HUM_PJRT_CALL(*api_, PJRT_Device_IsAddressable, args);
  return args.is_addressable;
}

std::optional<Device::MemoryStats> Device::memory_stats() const {
  PJRT_Device_MemoryStats_Args args{};
  args.device = device_;
  if (HUM_PJRT_TRY(*api_, PJRT_Device_MemoryStats, args)) return std::nullopt;
  MemoryStats stats{args.bytes_in_use, {}, {}};
  if (args.peak_bytes_in_use_is_set) stats.peak_bytes_in_use = args.peak_bytes_in_use;
  if (args.bytes_limit_is_set) stats.bytes_limit = args.bytes_limit;
  return stats;
}

}  // namespace hum::pjrt

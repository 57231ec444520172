// Element type and static dimensions of a device array.
#pragma once

#include <pjrt_c_api.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hum::pjrt {

// StableHLO's names: "f32", "bf16", "i32", "ui8", "i1", ...
std::string_view name(PJRT_Buffer_Type type);
// Bytes of one element in memory. Throws for types narrower than a byte.
int64_t size_bytes(PJRT_Buffer_Type type);

struct ArrayType {
  PJRT_Buffer_Type type = PJRT_Buffer_Type_F32;
  std::vector<int64_t> dims;

  int64_t elements() const;
  int64_t bytes() const { return elements() * size_bytes(type); }
  // "f32[8,128]"
  std::string to_string() const;
  bool operator==(const ArrayType&) const = default;
};

}  // namespace hum::pjrt

// Element types and static shapes.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hum::graph {

enum class DType : uint8_t { kF32, kBF16, kI32, kU32, kU8, kI1 };

// Names used in messages and StableHLO: "f32", "bf16", "i32", "ui32", "ui8", "i1".
std::string_view name(DType dtype);
// Bytes per element in host and device memory (i1 uses one).
int64_t size_bytes(DType dtype);
bool is_float(DType dtype);
bool is_unsigned(DType dtype);

struct Shape {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;

  int rank() const { return static_cast<int>(dims.size()); }
  int64_t elements() const;
  int64_t bytes() const { return elements() * size_bytes(dtype); }
  // The size of a dimension; negative dims count from the end. Throws if out of range.
  int64_t size(int dim) const { return dims[static_cast<size_t>(resolve_dim(dim))]; }
  // Converts a dim in -rank..rank-1 to 0..rank-1. Throws otherwise.
  int resolve_dim(int dim) const;
  // "f32[8,128]"
  std::string to_string() const;
  bool operator==(const Shape&) const = default;
};

}  // namespace hum::graph

// Lets fmt and error messages print shapes and types.
template <>
struct fmt::formatter<hum::graph::Shape> : fmt::formatter<std::string> {
  auto format(const hum::graph::Shape& shape, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(shape.to_string(), context);
  }
};
template <>
struct fmt::formatter<hum::graph::DType> : fmt::formatter<std::string_view> {
  auto format(hum::graph::DType dtype, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(hum::graph::name(dtype), context);
  }
};

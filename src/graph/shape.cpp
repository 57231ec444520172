#include "graph/shape.h"

#include <array>

#include "base/error.h"

namespace hum::graph {
namespace {

struct DTypeRow {
  std::string_view name;
  int64_t size_bytes;
};
constexpr std::array<DTypeRow, 6> kDTypes = {
    {{"f32", 4}, {"bf16", 2}, {"i32", 4}, {"ui32", 4}, {"ui8", 1}, {"i1", 1}}};

}  // namespace

std::string_view name(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].name; }
int64_t size_bytes(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].size_bytes; }
bool is_float(DType dtype) { return dtype == DType::kF32 || dtype == DType::kBF16; }
bool is_unsigned(DType dtype) { return dtype == DType::kU32 || dtype == DType::kU8; }

int64_t Shape::elements() const {
  int64_t product = 1;
  for (const int64_t size : dims) product *= size;
  return product;
}

int Shape::resolve_dim(int dim) const {
  HUM_REQUIRE(dim >= -rank() && dim < rank(), "dim {} is out of range for {}", dim, to_string());
  return dim < 0 ? dim + rank() : dim;
}

std::string Shape::to_string() const {
  return fmt::format("{}[{}]", name(dtype), fmt::join(dims, ","));
}

}  // namespace hum::graph

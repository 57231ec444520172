#include "pjrt/array_type.h"

#include <algorithm>

#include "base/error.h"

namespace hum::pjrt {
namespace {

struct TypeRow {
  PJRT_Buffer_Type type;
  std::string_view name;
  int64_t size_bytes;
};

constexpr TypeRow kTypes[] = {{PJRT_Buffer_Type_PRED, "i1", 1},  {PJRT_Buffer_Type_S8, "i8", 1},
                              {PJRT_Buffer_Type_S16, "i16", 2},  {PJRT_Buffer_Type_S32, "i32", 4},
                              {PJRT_Buffer_Type_S64, "i64", 8},  {PJRT_Buffer_Type_U8, "ui8", 1},
                              {PJRT_Buffer_Type_U16, "ui16", 2}, {PJRT_Buffer_Type_U32, "ui32", 4},
                              {PJRT_Buffer_Type_U64, "ui64", 8}, {PJRT_Buffer_Type_F16, "f16", 2},
                              {PJRT_Buffer_Type_F32, "f32", 4},  {PJRT_Buffer_Type_F64, "f64", 8},
                              {PJRT_Buffer_Type_BF16, "bf16", 2}};

const TypeRow& row(PJRT_Buffer_Type type) {
  const auto found = std::ranges::find(kTypes, type, &TypeRow::type);
  HUM_REQUIRE(found != std::end(kTypes), "element type {} is not supported",
              static_cast<int>(type));
  return *found;
}

}  // namespace

std::string_view name(PJRT_Buffer_Type type) { return row(type).name; }
int64_t size_bytes(PJRT_Buffer_Type type) { return row(type).size_bytes; }

int64_t ArrayType::elements() const {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  return count;
}

std::string ArrayType::to_string() const {
  return fmt::format("{}[{}]", name(type), fmt::join(dims, ","));
}

}  // namespace hum::pjrt

#include "pjrt/named_value.h"

#include <fmt/ranges.h>

namespace hum::pjrt {
namespace {

// Fills the type, the union and the size of one C value.
struct Fill {
  PJRT_NamedValue& out;
  void operator()(const std::string& value) const {
    out.type = PJRT_NamedValue_kString;
    out.string_value = value.c_str();
    out.value_size = value.size();
  }
  void operator()(int64_t value) const {
    out.type = PJRT_NamedValue_kInt64;
    out.int64_value = value;
    out.value_size = 1;
  }
  void operator()(const std::vector<int64_t>& value) const {
    out.type = PJRT_NamedValue_kInt64List;
    out.int64_array_value = value.data();
    out.value_size = value.size();
  }
  void operator()(float value) const {
    out.type = PJRT_NamedValue_kFloat;
    out.float_value = value;
    out.value_size = 1;
  }
  void operator()(bool value) const {
    out.type = PJRT_NamedValue_kBool;
    out.bool_value = value;
    out.value_size = 1;
  }
};

}  // namespace

std::vector<PJRT_NamedValue> to_c(const NamedValues& values) {
  std::vector<PJRT_NamedValue> result;
  for (const auto& [name, value] : values) {
    PJRT_NamedValue item{};
    item.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    item.name = name.c_str();
    item.name_size = name.size();
    std::visit(Fill{item}, value);
    result.push_back(item);
  }
  return result;
}

NamedValues from_c(std::span<const PJRT_NamedValue> values) {
  NamedValues result;
  for (const PJRT_NamedValue& value : values) {
    std::string name(value.name, value.name_size);
    switch (value.type) {
      case PJRT_NamedValue_kString:
        result.emplace_back(std::move(name), std::string(value.string_value, value.value_size));
        break;
      case PJRT_NamedValue_kInt64:
        result.emplace_back(std::move(name), value.int64_value);
        break;
      case PJRT_NamedValue_kInt64List:
        result.emplace_back(std::move(name),
                            std::vector<int64_t>(value.int64_array_value,
                                                 value.int64_array_value + value.value_size));
        break;
      case PJRT_NamedValue_kFloat:
        result.emplace_back(std::move(name), value.float_value);
        break;
      case PJRT_NamedValue_kBool:
        result.emplace_back(std::move(name), value.bool_value);
        break;
    }
  }
  return result;
}

std::string to_string(const NamedValue& value) {
  return std::visit([&](const auto& v) { return fmt::format("{}={}", value.first, v); },
                    value.second);
}

}  // namespace hum::pjrt

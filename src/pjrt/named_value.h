// PJRT_NamedValue, the C API's (name, value) pair: used for create options, attributes and costs.
#pragma once

#include <pjrt_c_api.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hum::pjrt {

using NamedValue =
    std::pair<std::string, std::variant<std::string, int64_t, std::vector<int64_t>, float, bool>>;
using NamedValues = std::vector<NamedValue>;

// C views of `values`, which must outlive them.
std::vector<PJRT_NamedValue> to_c(const NamedValues& values);
NamedValues from_c(std::span<const PJRT_NamedValue> values);
// "cpu_device_count=4"
std::string to_string(const NamedValue& value);

}  // namespace hum::pjrt

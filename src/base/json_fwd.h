// The name of JSON values, for headers that only pass them on.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hum {

using Json = nlohmann::ordered_json;

}  // namespace hum

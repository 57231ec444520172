// Forward declaration of Json, for headers that only pass values on.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hum {

using Json = nlohmann::ordered_json;

}  // namespace hum

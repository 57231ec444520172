// The page of `hum evaluate stems -o`.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace hum::app {

// `report`: of stem_report.h, with "examples" (eval/report/examples.h).
std::string stem_page(const Json& report);

}  // namespace hum::app

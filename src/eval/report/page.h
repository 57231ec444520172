// A report as one HTML page: no script, nothing from a network.
#pragma once

#include <string>

#include "base/json.h"

namespace hum::eval {

// `report` as in docs/formats/report.md. Whatever it lacks has no section.
std::string report_page(const Json& report);

}  // namespace hum::eval

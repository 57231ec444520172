// A report as one HTML page: no script, nothing from a network.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace hum::eval {

// `body` in the style of hum's reports, with `style` (CSS) after it. The title is text, the body
// HTML.
std::string styled_page(const std::string& title, const std::string& body,
                        const std::string& style = "");

// `report` as in docs/formats/report.md. Whatever it lacks has no section.
std::string report_page(const Json& report);

}  // namespace hum::eval

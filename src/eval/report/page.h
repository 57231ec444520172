// Writes a report as one HTML page that asks no network. Only its examples need scripts, which lie
// beside it (ReportFolder::write_site).
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace hum::eval {

// A page with `body` in the style of hum's reports, extended by `style` (CSS). The title is text,
// the body HTML.
std::string styled_page(const std::string& title, const std::string& body,
                        const std::string& style = "");

// A table cell of {"value", "low", "high", "clips"}: the interval in small print, the number of
// clips as tooltip. Empty if it is no object.
std::string figure_cell(const Json& figure);

// `report`: as in docs/formats/report.md. Missing parts get no section.
std::string report_page(const Json& report);

}  // namespace hum::eval

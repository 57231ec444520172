// Plots of the results of `hum plan`.
#pragma once

#include <filesystem>

#include "base/json_fwd.h"

namespace hum::app {

// Checks the file before any work. Throws kUsage unless its name ends in .svg; kCannotCreate.
void require_plot(const std::filesystem::path& path);

// Plots every layout that fits: step time against memory, with a cost axis on top if the price is
// known. `report`: outlook_report with its "layouts".
void write_layouts_plot(const std::filesystem::path& path, const Json& report);

// Plots every cluster that the model fits into: days against on-demand cost. `report`:
// comparison_report.
void write_clusters_plot(const std::filesystem::path& path, const Json& report);

}  // namespace hum::app

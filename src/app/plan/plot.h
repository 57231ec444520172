// Pictures of what `hum plan` found.
#pragma once

#include <filesystem>

#include "base/json_fwd.h"

namespace hum::app {

// Before any work. Throws kUsage unless the name ends in .svg, kCannotCreate.
void require_plot(const std::filesystem::path& path);

// Every layout that fits, step time against memory, with the cost above where it is known.
// `report` is that of the outlook with its "layouts".
void write_layouts_plot(const std::filesystem::path& path, const Json& report);

// Every cluster that the model fits into, days against money on demand. `report` is that of the
// comparison.
void write_clusters_plot(const std::filesystem::path& path, const Json& report);

}  // namespace hum::app

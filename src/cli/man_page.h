// The manual page hum(1).
#pragma once

#include <string>

#include "cli/outline.h"

namespace hum::cli {

// In roff: `hum man | man -l -` shows it.
std::string man_page(const CommandOutline& program, const std::string& version);

}  // namespace hum::cli

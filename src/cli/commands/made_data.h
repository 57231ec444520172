// The end of the commands that make training data.
#pragma once

#include <string>
#include <string_view>

#include "app/training/make_data.h"

namespace hum::cli {

// Prints what was made, counted in `unit`, or what is missing. Returns the exit code.
int report_made(const app::MadeItems& made, std::string_view unit, const std::string& output);

}  // namespace hum::cli

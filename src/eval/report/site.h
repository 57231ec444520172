// The style, the scripts and the listening form of reports, built into the program from site/.
#pragma once

#include <span>
#include <string_view>

#include "base/page_file.h"

namespace hum::eval {

// All files, in order of their names.
std::span<const PageFile> page_files();

// The content of one of them.
std::string_view page_file(std::string_view name);

}  // namespace hum::eval

// The page of the service: HTML, style, modules and pictures, built into the program. Not here: the
// API that it calls.
#pragma once

#include <span>
#include <string_view>

#include "base/page_file.h"

namespace hum::serve {

// All files, in order of their paths.
std::span<const PageFile> page_files();

// Null if the page has no such file.
const PageFile* find_page_file(std::string_view path);

}  // namespace hum::serve

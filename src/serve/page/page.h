// The page of the service: HTML, style, modules and pictures, built into the program. Not here: the
// API that it calls.
#pragma once

#include <span>
#include <string_view>

namespace hum::serve {

struct PageFile {
  std::string_view path;  // of the URL: "/", "/page/main.js"
  std::string_view content_type;
  std::string_view bytes;
  std::string_view etag;  // with its quotes; changes with the bytes
};

// All files, in order of their paths.
std::span<const PageFile> page_files();

// Null if the page has no such file.
const PageFile* find_page_file(std::string_view path);

}  // namespace hum::serve

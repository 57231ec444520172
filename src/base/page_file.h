// A file of a page that is built into the program (cmake/embed_page.cmake).
#pragma once

#include <string_view>

namespace hum {

struct PageFile {
  std::string_view path;  // of the URL ("/", "/page/main.js"), or in a folder ("player.js")
  std::string_view content_type;
  std::string_view bytes;
  std::string_view etag;  // with its quotes; changes with the bytes
};

}  // namespace hum

#include "serve/page/page.h"

#include <algorithm>

namespace hum::serve {

const PageFile* find_page_file(std::string_view path) {
  const std::span<const PageFile> files = page_files();
  const auto found = std::ranges::find(files, path, &PageFile::path);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace hum::serve

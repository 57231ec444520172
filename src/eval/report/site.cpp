#include "eval/report/site.h"

#include <algorithm>

#include "base/error.h"

namespace hum::eval {

std::string_view page_file(std::string_view name) {
  const std::span<const PageFile> files = page_files();
  const auto found = std::ranges::find(files, name, &PageFile::path);
  HUM_CHECK(found != files.end(), "{}", name);
  return found->bytes;
}

}  // namespace hum::eval

#include "base/open_file.h"

#include <fcntl.h>

#include <cstdlib>
#include <string>

namespace hum {

NewFile create_unique(const std::filesystem::path& folder, std::string_view prefix) {
  std::string name = (folder / prefix).string() + "XXXXXX";
  OpenFile file(::mkostemp(name.data(), O_CLOEXEC));
  return {std::move(file), std::move(name)};
}

}  // namespace hum

#include "base/scratch_folder.h"

#include <cstdlib>

#include "base/error.h"

namespace hum {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "hum-XXXXXX").string();
  HUM_REQUIRE(mkdtemp(name.data()) != nullptr, "cannot create {}", name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace hum

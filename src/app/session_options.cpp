#include "app/session_options.h"

#include <filesystem>

#include "base/folders.h"
#include "base/log.h"
#include "kernels/table.h"
#include "runtime/shared_cache.h"

namespace hum::app {
namespace {

// Empty: no disk cache.
std::filesystem::path program_cache() {
  const std::filesystem::path folder = cache_folder();
  if (!folder.empty()) return folder / "compiled";
  warn_once("no cache folder",
            "there is no home folder, so compiled programs are not kept; set HUM_CACHE to a folder "
            "to start faster");
  return {};
}

}  // namespace

runtime::SessionOptions session_options() {
  return {.kernels = kernels::table(),
          .use_kernel = kernels::available,
          .instruction_set = kernels::instruction_set(),
          .cache = program_cache(),
          .shared_cache = runtime::shared_cache_place()};
}

}  // namespace hum::app

#include "app/session_options.h"

#include "base/files.h"
#include "kernels/table.h"
#include "runtime/shared_cache.h"

namespace hum::app {

runtime::SessionOptions session_options() {
  const std::filesystem::path cache = cache_folder();
  return {.kernels = kernels::table(),
          .use_kernel = kernels::available,
          .instruction_set = kernels::instruction_set(),
          .cache = cache.empty() ? cache : cache / "compiled",
          .shared_cache = runtime::shared_cache_place()};
}

}  // namespace hum::app

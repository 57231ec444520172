// Options of the session in which every command runs models, with hum's kernels and the compile
// cache.
#pragma once

#include "runtime/session.h"

namespace hum::app {

runtime::SessionOptions session_options();

}  // namespace hum::app

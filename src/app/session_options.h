// The session that every command runs models in, with hum's kernels and the compile cache.
#pragma once

#include "runtime/session.h"

namespace hum::app {

runtime::SessionOptions session_options();

}  // namespace hum::app

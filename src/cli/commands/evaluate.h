// The `hum evaluate` commands that run models.
#pragma once

#include "cli/command.h"

namespace hum::cli {

extern const Command kEvaluateModel;

}  // namespace hum::cli

// The `hum evaluate` commands that judge models.
#pragma once

#include "cli/command.h"

namespace hum::cli {

extern const Command kEvaluateModel, kEvaluateCodec, kEvaluateListening, kEvaluateStems;

}  // namespace hum::cli

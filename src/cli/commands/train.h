// The `hum train` commands.
#pragma once

#include "cli/command.h"

namespace hum::cli {

extern const Command kTrainCodec, kTrainVoice, kTrainUpsampler, kTrainCoarse, kTrainClassifier;

}  // namespace hum::cli

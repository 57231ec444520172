// Every command, in one list.
#include "cli/commands/commands.h"

#include "cli/commands/train.h"

namespace hum::cli {

std::span<const Command> commands() {
  static const Command kCommands[] = {
      // clang-format off
      kGenerate,
      kNotes,
      kPresets,
      kEvaluateNotes,
      kCodecEncode,
      kCodecDecode,
      kTrainCodec,
      kTrainVoice,
      kTrainUpsampler,
      kTrainCoarse,
      kDataRender,
      kDataReferences,
      kModelCheck,
      kEnv,
      // clang-format on
  };
  return kCommands;
}

}  // namespace hum::cli

// The commands that are not `hum train`.
#pragma once

#include "cli/command.h"

namespace hum::cli {

extern const Command kNotes, kGenerate, kArrange, kPresets, kEvaluateNotes, kCodecEncode,
    kCodecDecode, kDataMake, kDataVerify, kDataReferences, kModelCheck, kModelRun, kProfile, kAudit,
    kCompile, kEnv;

}  // namespace hum::cli

// The commands that no group's header declares.
#pragma once

#include "cli/command.h"

namespace hum::cli {

extern const Command kNotes, kGenerate, kArrange, kPresets, kEvaluateNotes, kCodecEncode,
    kCodecDecode, kDataMake, kDataExtract, kDataExtractStatus, kDataExtractRequeue, kDataExtractGc,
    kDataVerify, kDataReferences, kDataStems, kTrain, kModelCheck, kModelRun, kProfile, kAudit,
    kCompile, kEnv, kHelp, kCompletion, kMan, kServe, kServeAddKey, kServeListKeys, kServeRemoveKey,
    kWorker, kClient, kSeparate, kRemix;

}  // namespace hum::cli

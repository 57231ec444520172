// Every command, in one list.
#include "cli/commands/commands.h"

#include "base/error.h"
#include "cli/commands/evaluate.h"
#include "cli/commands/plan.h"

namespace hum::cli {

std::span<const Command> commands() {
  static const Command kCommands[] = {
      // clang-format off
      kGenerate,
      kArrange,
      kNotes,
      kSeparate,
      kRemix,
      kPresets,
      kServe,
      kServeAddKey,
      kServeListKeys,
      kServeRemoveKey,
      kWorker,
      kClient,
      kEvaluateNotes,
      kEvaluateModel,
      kEvaluateCodec,
      kEvaluateListening,
      kEvaluateStems,
      kCodecEncode,
      kCodecDecode,
      kTrain,
      kDataMake,
      kDataStems,
      kDataExtract,
      kDataExtractStatus,
      kDataExtractRequeue,
      kDataExtractGc,
      kDataVerify,
      kDataReferences,
      kModelCheck,
      kModelRun,
      kProfile,
      kAudit,
      kCompile,
      kPlan,
      kPlanMemory,
      kPlanCompare,
      kPlanAssess,
      kPlanPredict,
      kPlanCalibrate,
      kPlanAudit,
      kPlanExtract,
      kEnv,
      kHelp,
      kCompletion,
      kMan,
      // clang-format on
  };
  return kCommands;
}

std::string_view group_summary(std::string_view group) {
  static constexpr std::pair<std::string_view, std::string_view> kGroups[] = {
      {"evaluate", "evaluate the models by figures and by ear, or one list of notes"},
      {"codec", "convert sound to codec tokens and back"},
      {"data", "make training data and timbre references, extract features of recordings"},
      {"model", "check model configurations, run language models"},
  };
  for (const auto& [name, summary] : kGroups) {
    if (name == group) return summary;
  }
  HUM_CHECK(false, "the group of commands '{}' has no summary", group);
  return {};
}

}  // namespace hum::cli

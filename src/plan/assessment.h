// Assesses a migration of a training run to another platform: its operators against that platform's
// profile, time and money on both sides, and the steps of the migration.
#pragma once

#include <string>
#include <vector>

#include "graph/function.h"
#include "plan/decision.h"

namespace hum::plan {

enum class Support { kUnsupported, kNeedsChange, kSupported };

inline EnumNames<Support> enum_names(Support) {
  static constexpr std::pair<Support, std::string_view> kNames[] = {
      {Support::kUnsupported, "unsupported"},
      {Support::kNeedsChange, "needs change"},
      {Support::kSupported, "supported"}};
  return kNames;
}

// The uses of one operator in the step.
struct OperatorUse {
  std::string op;
  Support support = Support::kSupported;
  bool rewritten = false;    // hum rewrites it when lowering for the platform
  std::string hint, source;  // what must change, and the source
  int64_t count = 0;
  double flops_share = 0;          // of the step's FLOPs
  std::vector<std::string> where;  // the first source lines that built it
};

// The operators of a training step, unsupported ones first. "Needs change" marks operators that the
// target platform handles differently from the current one. hum's kernels count as the plain ops
// that both platforms see.
std::vector<OperatorUse> check_operators(const graph::Function& step, const std::string& from,
                                         const std::string& to);

// A decision threshold, the plan's figure for it, and the resulting advice.
struct Threshold {
  std::string what, here;
  Advice at_most = Advice::kMove;
};

// A part of the training program that must change on the target platform.
struct Change {
  std::string what, how;
};

// A step of the migration. Money: US dollars.
struct Stage {
  std::string name, what;
  std::string gate;  // what must hold before the next step
  double days = 0, cost = 0;
};

struct Assessment {
  std::vector<OperatorUse> operators;
  Verdict verdict;
  Migration migration;  // including rewrites of unsupported operators
  double weeks_low = 0, weeks_high = 0;
  double break_even_tokens_per_s = 0;  // below it, a run on the target saves nothing
  std::vector<Threshold> thresholds;
  std::vector<Change> changes;
  std::vector<std::string> risks;
  std::vector<Stage> stages;
  bool is_supported() const;
};

// Weeks to write one operator that the platform lacks. Source: a field report on Trainium, two days
// for a rotary embedding.
inline constexpr double kRewriteWeeks = 0.4;
// Range around migration_weeks. Source: the same report, 2 to 4 weeks for a first model.
inline constexpr double kWeeksLow = 2.0 / 3, kWeeksHigh = 4.0 / 3;

// Assesses moving the run with the given `step`. Throws kUsage if the model does not fit into one
// of the clusters, with the nearest size that works; kUsage unless `from` has NVIDIA GPUs and `to`
// does not.
Assessment assess(const graph::Function& step, const Option& from, const Option& to,
                  const Market& market, const Situation& situation);

}  // namespace hum::plan

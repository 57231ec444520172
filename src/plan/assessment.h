// Migration assessment: what stands between a training run where it is and another platform: its
// operators against that platform's profile, time and money on both sides, and the way there.
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

// One operator of the step, of one kind.
struct OperatorUse {
  std::string op;
  Support support = Support::kSupported;
  bool rewritten = false;    // by hum, when it lowers the step for the platform
  std::string hint, source;  // what must change, and who says so
  int64_t count = 0;
  double flops_share = 0;          // of the step's
  std::vector<std::string> where;  // the first lines that made it
};

// The operators of a training step, unsupported ones first. "Needs change" is what the other
// platform judges otherwise than the one where the step runs. hum's kernels count as the plain ops
// that both platforms see.
std::vector<OperatorUse> check_operators(const graph::Function& step, const std::string& from,
                                         const std::string& to);

// A threshold of the decision, the plan's figure for it, and what follows.
struct Threshold {
  std::string what, here;
  Advice at_most = Advice::kMove;
};

// Something of the training program that is done otherwise there.
struct Change {
  std::string what, how;
};

// A step of the way there. Money: US dollars.
struct Stage {
  std::string name, what;
  std::string gate;  // what must hold to go on
  double days = 0, cost = 0;
};

struct Assessment {
  std::vector<OperatorUse> operators;
  Verdict verdict;
  Migration migration;  // with the rewrites of unsupported operators
  double weeks_low = 0, weeks_high = 0;
  double break_even_tokens_per_s = 0;  // below it, a run there saves nothing
  std::vector<Threshold> thresholds;
  std::vector<Change> changes;
  std::vector<std::string> risks;
  std::vector<Stage> stages;
  bool is_supported() const;
};

// Weeks that one operator takes that the platform lacks. Source: a field report on Trainium, two
// days for a rotary embedding.
inline constexpr double kRewriteWeeks = 0.4;
// Around migration_weeks. Source: the same report, 2 to 4 weeks for a first model.
inline constexpr double kWeeksLow = 2.0 / 3, kWeeksHigh = 4.0 / 3;

// Of moving the run whose `step` is given. Throws kBadData when the model does not fit into one of
// the clusters, with the nearest that works; kUsage unless `from` has NVIDIA GPUs and `to` has not.
Assessment assess(const graph::Function& step, const Option& from, const Option& to,
                  const Market& market, const Situation& situation);

}  // namespace hum::plan

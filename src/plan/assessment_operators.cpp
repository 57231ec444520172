// Compares the operators of a step on two platforms.
#include <algorithm>

#include "graph/profile/profile.h"
#include "plan/assessment.h"

namespace hum::plan {

namespace {

using graph::AuditRow;
using graph::Verdict;

// A kernel that is inlined: the ops of its body have their own rows.
bool is_opened(const AuditRow& row) {
  return row.op.starts_with("custom_call") && row.verdict == Verdict::kLegalised;
}

bool is_judged_alike(const AuditRow& row, const graph::Audit& there) {
  return std::ranges::any_of(there.rows, [&](const AuditRow& other) {
    return other.op == row.op && other.verdict == row.verdict && other.what == row.what;
  });
}

OperatorUse use_of(const AuditRow& row, const graph::Audit& at_home, double all_flops) {
  OperatorUse use{.op = row.op, .count = row.count, .where = row.where};
  use.flops_share = all_flops > 0 ? row.flops / all_flops : 0;
  if (row.verdict == Verdict::kUnsupported) {
    use.support = Support::kUnsupported;
  } else if (!row.what.empty() && !is_judged_alike(row, at_home)) {
    use.support = Support::kNeedsChange;
    use.rewritten = row.verdict == Verdict::kLegalised;
  } else {
    return use;
  }
  use.hint = row.what;
  use.source = row.source;
  return use;
}

}  // namespace

std::vector<OperatorUse> check_operators(const graph::Function& step, const std::string& from,
                                         const std::string& to) {
  const auto audit_on = [&](const std::string& platform) {
    return graph::audit(step, graph::profile_of_platform(platform), graph::no_kernels);
  };
  const graph::Audit at_home = audit_on(from), there = audit_on(to);
  double all_flops = 0;
  for (const AuditRow& row : there.rows) all_flops += row.flops;
  std::vector<OperatorUse> uses;
  for (const AuditRow& row : there.rows) {
    if (!is_opened(row)) uses.push_back(use_of(row, at_home, all_flops));
  }
  std::ranges::stable_sort(uses, [](const OperatorUse& a, const OperatorUse& b) {
    return std::pair(a.support, -a.flops_share) < std::pair(b.support, -b.flops_share);
  });
  return uses;
}

}  // namespace hum::plan

// Checks a function against a platform profile.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "graph/memory/work.h"
#include "graph/op.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/structure.h"
#include "graph/ops/table.h"
#include "graph/profile/profile.h"

namespace hum::graph {
namespace {

constexpr size_t kLinesNamed = 4;

struct Judgement {
  Verdict verdict = Verdict::kNative;
  std::string_view what, source;
};

Judgement judged(const Node& node, const Profile& profile, bool is_kernel) {
  if (is_kernel) return {Verdict::kKernel, "hum's own kernel", ""};
  for (const Rule& rule : profile.rules) {
    if (rule.op == &node.op() && rule.applies(node)) {
      return {rule.verdict, rule.what, profile.sources[rule.source]};
    }
  }
  if (is_custom_call(node)) return {Verdict::kLegalised, "its plain-op fallback is printed", ""};
  return {};
}

// times: how often the node runs.
using Visit = std::function<void(const Node&, const Judgement&, double times)>;

void walk(std::span<const Value> roots, const Profile& profile,
          const std::function<bool(const Node&)>& use_kernel, const Visit& visit,
          double times = 1) {
  for (const Node* node : topological_order(roots)) {
    const bool is_kernel = is_custom_call(*node) && profile.has_kernels && use_kernel(*node);
    const bool is_call = &node->op() == &kCallOp;
    if (!is_parameter(*node) && !is_call) visit(*node, judged(*node, profile, is_kernel), times);
    if (is_kernel) continue;
    for (const Region& region : node->regions()) {
      walk(region.results, profile, use_kernel, visit, times * region_rounds(*node));
    }
  }
}

std::string name_of(const Node& node) {
  if (!is_custom_call(node)) return std::string(node.op().name);
  return fmt::format("custom_call {}", custom_call_target(node));
}

}  // namespace

bool Audit::is_supported() const {
  return std::ranges::none_of(
      rows, [](const AuditRow& row) { return row.verdict == Verdict::kUnsupported; });
}

Audit audit(const Function& function, const Profile& profile,
            const std::function<bool(const Node&)>& use_kernel) {
  std::map<std::tuple<int, std::string, std::string>, AuditRow> rows;
  walk(function.results, profile, use_kernel,
       [&](const Node& node, const Judgement& found, double times) {
         const std::string name = name_of(node);
         AuditRow& row = rows[{-static_cast<int>(found.verdict), name, std::string(found.what)}];
         row.op = name;
         row.verdict = found.verdict;
         row.what = found.what;
         row.source = found.source;
         ++row.count;
         if (node.regions().empty() || found.verdict == Verdict::kKernel)
           row.flops += times * node.op().cost(node).flops;
         const std::string where = node.where_string();
         if (row.where.size() < kLinesNamed &&
             std::ranges::find(row.where, where) == row.where.end()) {
           row.where.push_back(where);
         }
       });
  Audit result;
  for (auto& [key, row] : rows) result.rows.push_back(std::move(row));
  std::ranges::stable_sort(result.rows, std::greater<>(), [](const AuditRow& row) {
    return row.verdict == Verdict::kUnsupported ? 3
           : row.verdict == Verdict::kLegalised ? 2
           : row.verdict == Verdict::kKernel    ? 1
                                                : 0;
  });
  return result;
}

void require_supported(const Function& function, const Profile& profile,
                       const std::function<bool(const Node&)>& use_kernel) {
  walk(function.results, profile, use_kernel,
       [&](const Node& node, const Judgement& found, double) {
         if (found.verdict != Verdict::kUnsupported) return;
         fail(ExitCode::kUnavailable,
              fmt::format("{}: {} made at {} does not run on {}: {}", function.name, name_of(node),
                          node.where_string(), profile.name, found.what),
              fmt::format("hum audit --platform {} lists all such ops; source: {}", profile.name,
                          found.source));
       });
}

}  // namespace hum::graph

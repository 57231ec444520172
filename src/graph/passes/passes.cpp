#include "graph/passes/passes.h"

#include <algorithm>
#include <chrono>
#include <sstream>

#include "base/env.h"
#include "base/error.h"
#include "base/log.h"
#include "graph/passes/algebraic.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/dead_code.h"

namespace hum::graph {
namespace {

bool is_skipped(std::string_view name) {
  std::istringstream list(env_string("HUM_SKIP_PASS"));
  for (std::string item; std::getline(list, item, ',');) {
    if (item == name) return true;
  }
  return false;
}

void require_same_results(const Pass& pass, const Function& before, const Function& after) {
  HUM_CHECK(before.parameters == after.parameters && before.results.size() == after.results.size(),
            "pass {} changed the signature of {}", pass.name, before.name);
  for (size_t i = 0; i < before.results.size(); ++i) {
    HUM_CHECK(before.results[i].shape() == after.results[i].shape() &&
                  before.results[i].placement() == after.results[i].placement(),
              "pass {} made result {} of {} {} instead of {}", pass.name, i, before.name,
              after.results[i].shape(), before.results[i].shape());
  }
  verify(after);
}

Function run_pass(const Pass& pass, const Function& function, PassReport& report) {
  report.name = pass.name;
  report.nodes_before = report.nodes_after = topological_order(function.results).size();
  report.skipped = is_skipped(pass.name);
  if (report.skipped) return function;
  const ErrorContext context([&] { return fmt::format("in pass {}", pass.name); });
  const auto start = std::chrono::steady_clock::now();
  Function result = pass.run(function);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  require_same_results(pass, function, result);
  report.milliseconds = elapsed.count();
  report.nodes_after = topological_order(result.results).size();
  spdlog::debug("{}: pass {}: {} to {} nodes in {:.1f} ms", function.name, pass.name,
                report.nodes_before, report.nodes_after, report.milliseconds);
  return result;
}

}  // namespace

std::span<const Pass> pass_table() {
  static constexpr Pass kPasses[] = {
      {"algebraic", simplify_algebra},
      {"common_subexpressions", merge_common_subexpressions},
      {"dead_code", remove_dead_code},
  };
  return kPasses;
}

PassedFunction run_passes(const Function& function) {
  verify(function);
  PassedFunction passed{function, {}};
  for (const Pass& pass : pass_table()) {
    passed.function = run_pass(pass, passed.function, passed.reports.emplace_back());
  }
  return passed;
}

}  // namespace hum::graph

#include "graph/passes/inline_calls.h"

#include "graph/op.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/table.h"
#include "graph/passes/rewrite.h"

namespace hum::graph {

Values inline_calls(std::span<const Value> roots,
                    const std::function<bool(const Node&)>& use_kernel) {
  return rewrite(roots, [&](const Node& node, const Values& inputs) -> std::optional<Values> {
    if (node.regions().empty()) return {};
    const bool is_kernel = is_custom_call(node) && use_kernel(node);
    if (is_kernel) return {};
    std::vector<Region> regions;
    for (const Region& region : node.regions()) {
      regions.push_back({region.parameters, inline_calls(region.results, use_kernel)});
    }
    if (&node.op() == &kCallOp || is_custom_call(node)) return inline_region(regions[0], inputs);
    return outputs_of(*clone_with(node, inputs, std::move(regions)));
  });
}

}  // namespace hum::graph

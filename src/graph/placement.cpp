#include "graph/placement.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/ops_impl.h"

namespace hum::graph {
namespace {

std::string axis_text(const AxisPlacement& axis) {
  switch (axis.kind) {
    case PlacementKind::kReplicated:
      return "R";
    case PlacementKind::kPartial:
      return "P";
    case PlacementKind::kSharded:
      return axis.dim == AxisPlacement::kNoDim ? "S" : fmt::format("S({})", axis.dim);
  }
  return "?";
}

enum class PartialRule { kNone, kAllOrNone, kAtMostOne, kChoice };

// A selection by a condition that all devices share: of partial sums and zeros.
bool is_choice_of_partials(const Node& node, size_t axis) {
  return std::ranges::all_of(std::span(node.inputs()).subspan(1), [axis](const Value& branch) {
    return branch.placement().axes[axis] == kPartial || is_zero(branch);
  });
}

bool allows_partials(const Node& node, size_t axis, PartialRule rule) {
  const auto partials = std::ranges::count(
      node.inputs(), kPartial, [axis](const Value& input) { return input.placement().axes[axis]; });
  switch (rule) {
    case PartialRule::kNone:
      return false;
    case PartialRule::kAllOrNone:
      return partials == std::ssize(node.inputs());
    case PartialRule::kAtMostOne:
      return partials == 1;
    case PartialRule::kChoice:
      return node.input(0).placement().axes[axis] == kReplicated &&
             is_choice_of_partials(node, axis);
  }
  return false;
}

AxisPlacement merge_axis(const Node& node, size_t axis, PartialRule rule) {
  AxisPlacement merged;
  for (const Value& input : node.inputs()) {
    const AxisPlacement& placement = input.placement().axes[axis];
    if (placement.kind == PlacementKind::kReplicated) continue;
    HUM_REQUIRE(merged.kind == PlacementKind::kReplicated || merged == placement,
                "{}: inputs are placed {} and {} on mesh axis {}", node.op().name,
                axis_text(merged), axis_text(placement), axis);
    merged = placement;
  }
  if (merged == kPartial && !allows_partials(node, axis, rule)) {
    fail(ExitCode::kFailure,
         fmt::format("{}: a partial sum over mesh axis {} cannot be used here", node.op().name,
                     axis),
         "all_reduce it first");
  }
  return merged;
}

std::vector<Placement> merge(const Node& node, PartialRule rule) {
  Placement placement;
  for (size_t axis = 0; axis < placement.axes.size(); ++axis) {
    placement.axes[axis] = merge_axis(node, axis, rule);
  }
  return std::vector<Placement>(node.shapes().size(), placement);
}

}  // namespace

std::string Placement::to_string() const {
  if (is_replicated()) return "replicated";
  return fmt::format("data: {}, tensor: {}", axis_text(axes[0]), axis_text(axes[1]));
}

std::vector<std::vector<int64_t>> Mesh::groups(Axis axis) const {
  std::vector<std::vector<int64_t>> groups;
  const int64_t members = size(axis), others = size() / members;
  for (int64_t other = 0; other < others; ++other) {
    auto& group = groups.emplace_back();
    for (int64_t i = 0; i < members; ++i) {
      group.push_back(axis == Axis::kTensor ? other * tensor + i : i * tensor + other);
    }
  }
  return groups;
}

std::vector<Placement> place_elementwise(const Node& node) {
  return merge(node, PartialRule::kNone);
}
std::vector<Placement> place_linear(const Node& node) {
  return merge(node, PartialRule::kAllOrNone);
}
std::vector<Placement> place_multilinear(const Node& node) {
  return merge(node, PartialRule::kAtMostOne);
}
std::vector<Placement> place_choice(const Node& node) { return merge(node, PartialRule::kChoice); }
std::vector<Placement> place_replicated(const Node& node) {
  for (const Value& input : node.inputs()) {
    HUM_REQUIRE(input.placement().is_replicated(), "{}: needs replicated inputs, not {}",
                node.op().name, input.placement());
  }
  return std::vector<Placement>(node.shapes().size());
}

}  // namespace hum::graph

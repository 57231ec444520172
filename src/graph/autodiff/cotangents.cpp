#include "graph/autodiff/cotangents.h"

#include <optional>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/collectives.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/place_as.h"

namespace hum::graph {
namespace {

// The placement of a contribution on one mesh axis, given the value's own placement there. Absent
// if the combination is invalid.
std::optional<AxisPlacement> fitted(const AxisPlacement& value, const AxisPlacement& contribution) {
  switch (value.kind) {
    case PlacementKind::kReplicated:
      // Each device has only its own uses: the true cotangent is the sum over devices.
      return contribution == kReplicated ? kReplicated : kPartial;
    case PlacementKind::kSharded:
      if (contribution == kPartial) return {};
      if (contribution.kind == PlacementKind::kSharded && contribution.dim != value.dim &&
          contribution.dim != AxisPlacement::kNoDim && value.dim != AxisPlacement::kNoDim) {
        return {};
      }
      return value;
    case PlacementKind::kPartial:
      if (contribution != kReplicated) return {};
      return kReplicated;
  }
  return {};
}

Placement fitted(const Value& value, const Value& contribution) {
  Placement placement;
  for (size_t axis = 0; axis < placement.axes.size(); ++axis) {
    const auto there = fitted(value.placement().axes[axis], contribution.placement().axes[axis]);
    HUM_CHECK(there.has_value(), "{} made at {} is placed {}, a cotangent of it {}",
              value.node().op().name, value.node().where_string(), value.placement(),
              contribution.placement());
    placement.axes[axis] = *there;
  }
  return placement;
}

size_t partial_bits(const Placement& placement) {
  size_t bits = 0;
  for (size_t axis = 0; axis < placement.axes.size(); ++axis) {
    if (placement.axes[axis] == kPartial) bits |= size_t{1} << axis;
  }
  return bits;
}

void accumulate(Value& sum, const Value& term) { sum = sum ? add_values(sum, term) : term; }

}  // namespace

void CotangentSums::add(const Value& value, const Value& contribution) {
  HUM_CHECK(value.shape() == contribution.shape(), "cotangent of {} made at {} is {}, not {}",
            value.node().op().name, value.node().where_string(), contribution.shape(),
            value.shape());
  const Placement placement = fitted(value, contribution);
  Sums& sums = sums_[{&value.node(), value.index()}];
  accumulate(sums[partial_bits(placement)], place_as(contribution, placement));
}

Value CotangentSums::of(const Value& value) {
  const auto found = sums_.find({&value.node(), value.index()});
  if (found == sums_.end()) return {};
  Sums& sums = found->second;
  for (int axis = kAxisCount - 1; axis >= 0; --axis) {
    const size_t bit = size_t{1} << axis;
    for (size_t bits = 0; bits < sums.size(); ++bits) {
      if ((bits & bit) == 0 || !sums[bits]) continue;
      const Value whole =
          all_reduce(sums[bits], static_cast<Axis>(axis), Reduction::kSum, value.node().where());
      accumulate(sums[bits & ~bit], whole);
      sums[bits] = Value();
    }
  }
  return sums[0];
}

Value CotangentSums::partial_of(const Value& value) {
  const auto found = sums_.find({&value.node(), value.index()});
  if (found == sums_.end()) return {};
  Value only;
  for (const Value& sum : found->second) {
    if (sum && only) return of(value);
    if (sum) only = sum;
  }
  return only;
}

}  // namespace hum::graph

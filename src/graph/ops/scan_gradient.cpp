// Builds scans and their gradient: the step's pullback is traced next to it, the forward values
// that the pullback reads become additional stacked results, and a scan in the opposite direction
// applies it.
#include <algorithm>
#include <memory>

#include "base/error.h"
#include "graph/autodiff/cotangents.h"
#include "graph/op.h"
#include "graph/ops/control.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/place_as.h"
#include "graph/ops/scan_impl.h"
#include "graph/ops/table.h"

namespace hum::graph {
namespace {

const Shape kIndexShape{DType::kI32, {}};

// One backward pass: the values that the reverse scan carries and reads.
class BackwardScan {
 public:
  BackwardScan(const ScanBackward& backward, const ScanSizes& sizes, std::span<const Value> inputs,
               std::span<const Value> outputs, std::span<const Value> cotangents)
      : backward_(backward), sizes_(sizes), inputs_(inputs) {
    for (const size_t i : backward.cotangents) {
      const Value c = cotangents[i] ? cotangents[i]
                                    : placed_zeros(outputs[i].shape(),
                                                   cotangent_placement(outputs[i].placement()));
      (i < sizes.carries ? carry_ : xs_).push_back(c);
    }
    carried_ = carry_.size();
    // Sums over the steps are computed in f32.
    for (size_t g = 0; g < backward.gradients.size(); ++g) {
      if (!is_capture(backward.gradients[g])) continue;
      const Value& one = backward.region.results[g];
      carry_.push_back(placed_zeros({DType::kF32, one.dims()}, one.placement()));
    }
    for (const ScanSource& source : backward.sources) {
      if (source.kind == ScanSource::Kind::kSlice) xs_.push_back(inputs[sizes.carries + source.at]);
      if (source.kind == ScanSource::Kind::kResidual) {
        xs_.push_back(outputs[sizes.carries + sizes.ys + source.at]);
      }
    }
  }

  Values run(int64_t n, bool reverse, std::source_location where) const {
    const ScanResult result = scan(
        n, carry_, xs_, [&](const ScanStep& step) { return apply(step); },
        {.gradient = ScanGradient::kNone, .reverse = !reverse}, where);
    Values gradients(inputs_.size());
    size_t next_sum = carried_, next_y = 0;
    for (const size_t p : backward_.gradients) {
      if (is_capture(p)) gradients[p] = convert(result.carry[next_sum++], inputs_[p].dtype());
      if (is_slice(p)) gradients[p] = result.ys[next_y++];
    }
    for (size_t i = 0; i < carried_; ++i) gradients[backward_.cotangents[i]] = result.carry[i];
    return gradients;
  }

 private:
  bool is_slice(size_t p) const { return p >= sizes_.carries && !is_capture(p); }
  bool is_capture(size_t p) const { return p >= sizes_.carries + sizes_.xs; }

  Values arguments(const ScanStep& step) const {
    Values result(step.carry.begin(), step.carry.begin() + static_cast<std::ptrdiff_t>(carried_));
    size_t next_x = 0;
    for (size_t i = carried_; i < backward_.cotangents.size(); ++i) {
      result.push_back(step.xs[next_x++]);
    }
    for (const ScanSource& source : backward_.sources) {
      switch (source.kind) {
        case ScanSource::Kind::kIndex:
          result.push_back(step.index);
          break;
        case ScanSource::Kind::kCapture:
          result.push_back(inputs_[sizes_.carries + sizes_.xs + source.at]);
          break;
        default:
          result.push_back(step.xs[next_x++]);
      }
    }
    return result;
  }

  ScanResult apply(const ScanStep& step) const {
    const Values found = inline_region(backward_.region, arguments(step));
    ScanResult next;
    // A carry that the step does not read gets no gradient through it.
    for (size_t i = 0; i < carried_; ++i) {
      next.carry.push_back(placed_zeros(step.carry[i].shape(), step.carry[i].placement()));
    }
    size_t next_sum = carried_;
    for (size_t g = 0; g < found.size(); ++g) {
      const size_t p = backward_.gradients[g];
      if (is_capture(p)) {
        next.carry.push_back(step.carry[next_sum++] + convert(found[g], DType::kF32));
      } else if (is_slice(p)) {
        next.ys.push_back(found[g]);
      } else {
        const auto at = std::ranges::find(backward_.cotangents, p) - backward_.cotangents.begin();
        next.carry[static_cast<size_t>(at)] = found[g];
      }
    }
    return next;
  }

  const ScanBackward& backward_;
  ScanSizes sizes_;
  std::span<const Value> inputs_;
  Values carry_, xs_;
  size_t carried_ = 0;
};

// Placeholders for the inputs of one step: index, carry, slices.
Values step_arguments(int64_t n, std::span<const Value> carry, std::span<const Value> xs) {
  Values arguments = {parameter("index", kIndexShape)};
  arguments.insert(arguments.end(), carry.begin(), carry.end());
  for (const Value& x : xs) {
    HUM_REQUIRE(x.rank() >= 1 && x.size(0) == n, "scan: {} has no {} slices", x.shape(), n);
    for (const AxisPlacement& axis : x.placement().axes) {
      HUM_REQUIRE(axis != sharded(0), "scan: {} is placed {}: the steps cannot be cut", x.shape(),
                  x.placement());
    }
    arguments.push_back(parameter("slice", {x.dtype(), {x.dims().begin() + 1, x.dims().end()}},
                                  moved_shards(x.placement(), -1)));
  }
  return arguments;
}

}  // namespace

ScanResult scan(int64_t n, std::span<const Value> carry, std::span<const Value> xs,
                const std::function<ScanResult(const ScanStep&)>& body, ScanOptions options,
                std::source_location where) {
  const ErrorContext context = building("scan", {xs.begin(), xs.end()}, where);
  HUM_REQUIRE(n >= 1, "scan: {} steps", n);
  ScanSizes sizes{carry.size(), xs.size(), 0};
  TracedRegion traced = trace_region(step_arguments(n, carry, xs), [&](std::span<const Value> in) {
    ScanResult next = body({in.subspan(1, sizes.carries), in.subspan(1 + sizes.carries), in[0]});
    HUM_REQUIRE(next.carry.size() == sizes.carries, "scan: {} values are carried, {} are returned",
                sizes.carries, next.carry.size());
    sizes.ys = next.ys.size();
    next.carry.insert(next.carry.end(), next.ys.begin(), next.ys.end());
    return next.carry;
  });
  CustomVjp vjp;
  if (options.gradient != ScanGradient::kNone) {
    const auto backward = std::make_shared<const ScanBackward>(
        options.gradient == ScanGradient::kKeep ? keeping_backward(traced.region, sizes)
                                                : recomputing_backward(traced.region, sizes));
    vjp = [=, reverse = options.reverse](std::span<const Value> inputs,
                                         std::span<const Value> outputs,
                                         std::span<const Value> cotangents) {
      return BackwardScan(*backward, sizes, inputs, outputs, cotangents).run(n, reverse, where);
    };
  }
  Values inputs(carry.begin(), carry.end());
  inputs.insert(inputs.end(), xs.begin(), xs.end());
  inputs.insert(inputs.end(), traced.captures.begin(), traced.captures.end());
  const Values all = NodeBuilder{.op = kScanOp,
                                 .inputs = std::move(inputs),
                                 .attributes = {{"steps", n},
                                                {"carries", static_cast<int64_t>(sizes.carries)},
                                                {"xs", static_cast<int64_t>(sizes.xs)},
                                                {"reverse", options.reverse}},
                                 .regions = {std::move(traced.region)},
                                 .custom_vjp = std::move(vjp),
                                 .where = where}
                         .values();
  const auto ys = all.begin() + static_cast<std::ptrdiff_t>(sizes.carries);
  return {{all.begin(), ys}, {ys, ys + static_cast<std::ptrdiff_t>(sizes.ys)}};
}

}  // namespace hum::graph

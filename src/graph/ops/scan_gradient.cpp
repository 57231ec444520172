// Building scans, and their gradient: the step's own pullback is traced beside it, what it reads of
// the forward step becomes further stacked results, and a scan in the other direction applies it.
#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "graph/autodiff/cotangents.h"
#include "graph/autodiff/gradients.h"
#include "graph/op.h"
#include "graph/ops/control.h"
#include "graph/ops/control_defs.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/place_as.h"
#include "graph/ops/scan_impl.h"

namespace hum::graph {
namespace {

const Shape kIndexShape{DType::kI32, {}};

// Where the backward step finds a value of the forward step.
struct Source {
  enum class Kind { kIndex, kSlice, kCapture, kResidual } kind;
  size_t at = 0;  // which of the xs, captures or residuals
};

// The backward step: cotangents of the step's float results, then the sources, to gradients.
struct Backward {
  Region region;
  std::vector<size_t> cotangents;  // results of the step (carry, ys) that have one
  std::vector<size_t> gradients;   // parameters (carry, xs, captures) that get one
  std::vector<Source> sources;
};

struct Sizes {
  size_t carries = 0, xs = 0, ys = 0;
};

Values cotangent_placeholders(const Values& results, Backward& backward) {
  Values placeholders;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_float(results[i].dtype())) continue;
    backward.cotangents.push_back(i);
    placeholders.push_back(
        parameter("cotangent", results[i].shape(), cotangent_placement(results[i].placement())));
  }
  return placeholders;
}

Value whole_cotangent(const Value& value, const Value& found) {
  CotangentSums sums;
  sums.add(value, found);
  return sums.of(value);
}

// Gradients of results[cotangents] to the float parameters behind the index; those that exist.
Values step_gradients(const Values& results, std::span<const Value> parameters, size_t carries,
                      std::span<const Value> cotangents, Backward& backward) {
  Values outputs, wanted;
  std::vector<size_t> numbers;
  for (const size_t i : backward.cotangents) outputs.push_back(results[i]);
  for (size_t i = 1; i < parameters.size(); ++i) {
    if (!is_float(parameters[i].dtype())) continue;
    wanted.push_back(parameters[i]);
    numbers.push_back(i - 1);
  }
  Values found;
  const Values all = pullback(outputs, cotangents, wanted);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    backward.gradients.push_back(numbers[i]);
    // A carry's cotangent goes on to the step before: placed as there. The others may be left
    // partial sums.
    found.push_back(numbers[i] < carries ? whole_cotangent(wanted[i], all[i]) : all[i]);
  }
  return found;
}

// The source of parameter i of the step, unless it is a carry, which must be kept.
std::optional<Source> parameter_source(size_t i, const Sizes& sizes) {
  if (i == 0) return Source{Source::Kind::kIndex};
  if (i <= sizes.carries) return {};
  if (i <= sizes.carries + sizes.xs) return Source{Source::Kind::kSlice, i - 1 - sizes.carries};
  return Source{Source::Kind::kCapture, i - 1 - sizes.carries - sizes.xs};
}

// Adds `value` of the step to its results and says where its stack will be.
Source keep(const Value& value, const Sizes& sizes, Region& step) {
  step.results.push_back(value);
  return {Source::Kind::kResidual, step.results.size() - 1 - sizes.carries - sizes.ys};
}

// Whether each value depends on nothing but the step's captures and constants.
std::vector<bool> are_invariant(const Values& values, const Region& step, const Sizes& sizes) {
  std::unordered_set<const Node*> varying;
  for (size_t i = 0; i <= sizes.carries + sizes.xs; ++i) {
    varying.insert(&step.parameters[i].node());
  }
  for (const Node* node : topological_order(values)) {
    for (const Value& input : node->inputs()) {
      if (varying.contains(&input.node())) varying.insert(node);
    }
  }
  std::vector<bool> invariant;
  for (const Value& value : values) invariant.push_back(!varying.contains(&value.node()));
  return invariant;
}

// The backward step that reads intermediates; they are added to the step's results. Those that are
// the same in every step are computed again from the captures instead of being stacked.
Backward keeping_backward(Region& step, const Sizes& sizes) {
  Backward backward;
  const Values results = step.results;
  Values arguments = cotangent_placeholders(results, backward);
  const size_t own = arguments.size(), outside = 1 + sizes.carries + sizes.xs;
  const TracedRegion traced = trace_region(arguments, [&](std::span<const Value> in) {
    return step_gradients(results, step.parameters, sizes.carries, in, backward);
  });
  const auto invariant = are_invariant(traced.captures, step, sizes);
  const Values captures(step.parameters.begin() + static_cast<std::ptrdiff_t>(outside),
                        step.parameters.end());
  for (size_t i = 0; i < captures.size(); ++i) {
    backward.sources.push_back({Source::Kind::kCapture, i});
    arguments.push_back(captures[i]);
  }
  Region again{captures, {}};
  for (size_t r = 0; r < traced.captures.size(); ++r) {
    const Value& read = traced.captures[r];
    if (invariant[r]) {
      again.results.push_back(read);
      continue;
    }
    const auto found = std::ranges::find(step.parameters, read);
    const auto source =
        found == step.parameters.end()
            ? std::nullopt
            : parameter_source(static_cast<size_t>(found - step.parameters.begin()), sizes);
    backward.sources.push_back(source ? *source : keep(read, sizes, step));
    arguments.push_back(read);
  }
  backward.region = trace_region(arguments, [&](std::span<const Value> in) {
                      Values inputs(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(own));
                      const Values same = inline_region(again, in.subspan(own, captures.size()));
                      size_t next_same = 0, next_read = own + captures.size();
                      for (const bool is_same : invariant) {
                        inputs.push_back(is_same ? same[next_same++] : in[next_read++]);
                      }
                      return inline_region(traced.region, inputs);
                    }).region;
  return backward;
}

// The backward step that computes the step again from its parameters.
Backward recomputing_backward(Region& step, const Sizes& sizes) {
  Backward backward;
  const Region forward = step;
  Values arguments = cotangent_placeholders(forward.results, backward);
  const size_t own = arguments.size();
  for (size_t i = 0; i < forward.parameters.size(); ++i) {
    const auto source = parameter_source(i, sizes);
    backward.sources.push_back(source ? *source : keep(forward.parameters[i], sizes, step));
    arguments.push_back(forward.parameters[i]);
  }
  backward.region =
      trace_region(arguments, [&](std::span<const Value> in) {
        const Values again = inline_region(forward, in.subspan(own));
        return step_gradients(again, in.subspan(own), sizes.carries, in.first(own), backward);
      }).region;
  return backward;
}

// One backward pass: what the scan in the other direction carries and reads.
class BackwardScan {
 public:
  BackwardScan(const Backward& backward, const Sizes& sizes, std::span<const Value> inputs,
               std::span<const Value> outputs, std::span<const Value> cotangents)
      : backward_(backward), sizes_(sizes), inputs_(inputs) {
    for (const size_t i : backward.cotangents) {
      const Value c = cotangents[i] ? cotangents[i]
                                    : placed_zeros(outputs[i].shape(),
                                                   cotangent_placement(outputs[i].placement()));
      (i < sizes.carries ? carry_ : xs_).push_back(c);
    }
    carried_ = carry_.size();
    // Sums over the steps are made in f32.
    for (size_t g = 0; g < backward.gradients.size(); ++g) {
      if (!is_capture(backward.gradients[g])) continue;
      const Value& one = backward.region.results[g];
      carry_.push_back(placed_zeros({DType::kF32, one.dims()}, one.placement()));
    }
    for (const Source& source : backward.sources) {
      if (source.kind == Source::Kind::kSlice) xs_.push_back(inputs[sizes.carries + source.at]);
      if (source.kind == Source::Kind::kResidual) {
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
    for (const Source& source : backward_.sources) {
      switch (source.kind) {
        case Source::Kind::kIndex:
          result.push_back(step.index);
          break;
        case Source::Kind::kCapture:
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

  const Backward& backward_;
  Sizes sizes_;
  std::span<const Value> inputs_;
  Values carry_, xs_;
  size_t carried_ = 0;
};

// Placeholders for what one step gets: index, carry, slices.
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
  Sizes sizes{carry.size(), xs.size(), 0};
  TracedRegion traced = trace_region(step_arguments(n, carry, xs), [&](std::span<const Value> in) {
    ScanResult next = body({in.subspan(1, sizes.carries), in.subspan(1 + sizes.carries), in[0]});
    HUM_REQUIRE(next.carry.size() == sizes.carries, "scan: {} values are carried, {} come back",
                sizes.carries, next.carry.size());
    sizes.ys = next.ys.size();
    next.carry.insert(next.carry.end(), next.ys.begin(), next.ys.end());
    return next.carry;
  });
  CustomVjp vjp;
  if (options.gradient != ScanGradient::kNone) {
    const auto backward = std::make_shared<const Backward>(
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

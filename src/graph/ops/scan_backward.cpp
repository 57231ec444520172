#include <algorithm>
#include <optional>
#include <span>
#include <unordered_set>

#include "graph/autodiff/cotangents.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/control.h"
#include "graph/ops/place_as.h"
#include "graph/ops/scan_impl.h"

namespace hum::graph {
namespace {

Values cotangent_placeholders(const Values& results, ScanBackward& backward) {
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

// Gradients of results[cotangents] for the float parameters after the index; only those that exist.
Values step_gradients(const Values& results, std::span<const Value> parameters, size_t carries,
                      std::span<const Value> cotangents, ScanBackward& backward) {
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
    // A carry's cotangent is passed to the previous step and must keep its placement. Others may
    // remain partial sums.
    found.push_back(numbers[i] < carries ? whole_cotangent(wanted[i], all[i]) : all[i]);
  }
  return found;
}

// The source of parameter i of the step, unless it is a carry, which must be saved.
std::optional<ScanSource> parameter_source(size_t i, const ScanSizes& sizes) {
  if (i == 0) return ScanSource{ScanSource::Kind::kIndex};
  if (i <= sizes.carries) return {};
  if (i <= sizes.carries + sizes.xs)
    return ScanSource{ScanSource::Kind::kSlice, i - 1 - sizes.carries};
  return ScanSource{ScanSource::Kind::kCapture, i - 1 - sizes.carries - sizes.xs};
}

// Adds `value` to the results of the step and returns the position of its stack.
ScanSource keep(const Value& value, const ScanSizes& sizes, Region& step) {
  step.results.push_back(value);
  return {ScanSource::Kind::kResidual, step.results.size() - 1 - sizes.carries - sizes.ys};
}

// Whether each value depends only on the step's captures and constants.
std::vector<bool> are_invariant(const Values& values, const Region& step, const ScanSizes& sizes) {
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

}  // namespace

ScanBackward keeping_backward(Region& step, const ScanSizes& sizes) {
  ScanBackward backward;
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
    backward.sources.push_back({ScanSource::Kind::kCapture, i});
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

ScanBackward recomputing_backward(Region& step, const ScanSizes& sizes) {
  ScanBackward backward;
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

}  // namespace hum::graph

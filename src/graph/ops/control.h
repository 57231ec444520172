// Loops. Bodies are traced once; outside values that they use are captured and passed in unchanged.
#pragma once

#include <functional>
#include <source_location>
#include <span>

#include "graph/value.h"

namespace hum::graph {

// Repeats carry = body(carry) while condition(carry), an i1 scalar, is true. The body must keep
// every shape. Has no gradient: use scan for differentiable loops.
Values while_loop(std::span<const Value> carry,
                  const std::function<Value(std::span<const Value>)>& condition,
                  const std::function<Values(std::span<const Value>)>& body,
                  std::source_location where = std::source_location::current());

struct ScanStep {
  std::span<const Value> carry;
  // Slice `index` of each of xs, without the first dim.
  std::span<const Value> xs;
  // i32 scalar, 0 for the first slice in xs.
  Value index;
};

struct ScanResult {
  Values carry;
  // From the body: this step's results. From scan(): all of them, stacked along a new first dim.
  Values ys;
};

// What the backward pass of a scan reads.
enum class ScanGradient {
  kKeep,       // every intermediate it needs, stacked over the steps
  kRecompute,  // each step's carry and slice; the body is recomputed
  kNone,       // there is no backward pass (for bodies with non-differentiable ops)
};

struct ScanOptions {
  ScanGradient gradient = ScanGradient::kKeep;
  // Runs from the last slice to the first; ys keep the order of xs.
  bool reverse = false;
};

// Runs body n times, each with the previous carry and slice i of xs (first dim n). Differentiable:
// the gradient is a scan in the opposite direction.
ScanResult scan(int64_t n, std::span<const Value> carry, std::span<const Value> xs,
                const std::function<ScanResult(const ScanStep&)>& body, ScanOptions options = {},
                std::source_location where = std::source_location::current());

}  // namespace hum::graph

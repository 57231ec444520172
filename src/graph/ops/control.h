// Loops. Bodies are traced once; values they use from outside are found and handed in unchanged.
#pragma once

#include <functional>
#include <source_location>
#include <span>

#include "graph/value.h"

namespace hum::graph {

// carry = body(carry) for as long as condition(carry), an i1 scalar, is true. The body keeps every
// shape. No gradient: differentiable loops are scans.
Values while_loop(std::span<const Value> carry,
                  const std::function<Value(std::span<const Value>)>& condition,
                  const std::function<Values(std::span<const Value>)>& body,
                  std::source_location where = std::source_location::current());

struct ScanStep {
  std::span<const Value> carry;
  // Slice `index` of each of xs, without its first dim.
  std::span<const Value> xs;
  // i32 scalar, 0 at the first slice.
  Value index;
};

struct ScanResult {
  Values carry;
  // From the body: this step's results. From scan(): all of them along a new first dim.
  Values ys;
};

// What the backward pass of a scan reads.
enum class ScanGradient {
  kKeep,       // every intermediate that it needs, stacked over the steps
  kRecompute,  // the carry and the slice of each step; the body is computed again
  kNone,       // there is no backward pass (bodies with ops that have no gradient)
};

struct ScanOptions {
  ScanGradient gradient = ScanGradient::kKeep;
  // From the last slice to the first; ys stay in the order of xs.
  bool reverse = false;
};

// n steps of body, each with the carry of the one before and with slice i of xs (first dims n).
// Differentiable: the gradient is a scan the other way round.
ScanResult scan(int64_t n, std::span<const Value> carry, std::span<const Value> xs,
                const std::function<ScanResult(const ScanStep&)>& body, ScanOptions options = {},
                std::source_location where = std::source_location::current());

}  // namespace hum::graph

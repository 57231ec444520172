// Calls to our own kernels. Every call carries the same computation in plain ops, its fallback:
// what other platforms run, what the gradient is taken of, and what the kernel is tested against.
#pragma once

#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/value.h"

namespace hum::graph {

struct CustomCallOptions {
  // The gradient; when empty, that of the fallback.
  CustomVjp vjp = {};
  // {result, input}: the kernel writes that result over that input's buffer.
  std::vector<std::pair<int, int>> output_operand_aliases = {};
};

// The results of kernel `target` on `inputs`, row-major. The kernel's handler reads `settings` from
// its backend config: bool, int64_t, double (as f32), std::string, Dims. The fallback says what is
// computed and its result shapes; it uses its arguments and constants alone.
// Throws: when the fallback uses a value that is not among the inputs, or aliases do not fit.
Values custom_call(std::string target, std::span<const Value> inputs, const Attributes& settings,
                   const std::function<Values(std::span<const Value>)>& fallback,
                   CustomCallOptions options = {},
                   std::source_location where = std::source_location::current());

// For those who choose or write kernels: is the node a custom call, of which kernel, and with which
// settings?
bool is_custom_call(const Node& node);
const std::string& custom_call_target(const Node& node);
Attributes custom_call_settings(const Node& node);

// The same call once more, on `inputs`, with a setting that tells it from the first: no compiler
// takes the first one's results instead.
Values repeat_custom_call(const Node& call, Values inputs);

}  // namespace hum::graph

// Calls to hum's own kernels. Every call includes the same computation in plain ops, its fallback,
// which other platforms run, which is differentiated, and which the kernel is tested against.
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
  // The custom gradient; if empty, the fallback is differentiated.
  CustomVjp vjp = {};
  // {result, input}: the kernel writes that result over that input's buffer.
  std::vector<std::pair<int, int>> output_operand_aliases = {};
};

// Returns the results of kernel `target` on `inputs`, row-major. The kernel's handler reads
// `settings` from its backend config: bool, int64_t, double (as f32), std::string, Dims. The
// fallback defines the computation and its result shapes; it may use only its arguments and
// constants.
// Throws if the fallback uses a value that is not an input, or aliases are invalid.
Values custom_call(std::string target, std::span<const Value> inputs, const Attributes& settings,
                   const std::function<Values(std::span<const Value>)>& fallback,
                   CustomCallOptions options = {},
                   std::source_location where = std::source_location::current());

// For code that selects or implements kernels: whether the node is a custom call, and its kernel
// and settings.
bool is_custom_call(const Node& node);
const std::string& custom_call_target(const Node& node);
Attributes custom_call_settings(const Node& node);

// Repeats the call on `inputs`, with an extra setting that distinguishes it from the first, so that
// no compiler reuses the first call's results.
Values repeat_custom_call(const Node& call, Values inputs);

}  // namespace hum::graph

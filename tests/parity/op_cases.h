// The ops that JAX checks, as hum writes them: name in tests/data/autodiff/ops.json -> graph.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops.h"

namespace hum::parity {

using graph::Value;
using graph::Values;
using In = std::span<const Value>;

struct OpCase {
  std::string name;
  std::function<Values(In)> build;
};
using OpCases = std::vector<OpCase>;

// A case of one result.
template <typename F>
OpCase one(std::string name, F f) {
  return {std::move(name), [f](In in) { return Values{f(in)}; }};
}

OpCases unary_cases();
OpCases binary_cases();
OpCases shape_cases();
OpCases dot_and_convolution_cases();
OpCases reduction_cases();
OpCases indexing_cases();
OpCases activation_cases();
OpCases spectral_cases();
OpCases control_cases();
OpCases sort_cases();
OpCases structure_cases();
OpCases kernel_cases();
OpCases random_cases();

struct Family {
  const char* name;
  OpCases (*cases)();
};
std::span<const Family> families();
// Else test lists show the struct's bytes.
void PrintTo(const Family& family, std::ostream* out);

}  // namespace hum::parity

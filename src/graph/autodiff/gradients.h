// Reverse-mode differentiation of graphs.
#pragma once

#include <functional>
#include <span>

#include "base/enum_names.h"
#include "graph/value.h"

namespace hum::graph {

// Returns d loss / d parameters. loss: one float element. A parameter that the loss does not depend
// on gets zeros. On a mesh, the gradient of a replicated parameter may still be a partial sum (for
// a data-parallel loss): all_reduce or reduce_scatter it. Throws if a gradient would have to flow
// through an op without one; the error names the op and its source line.
Values gradients(const Value& loss, std::span<const Value> parameters);

// Returns cotangents of `inputs`, given those of `outputs`; an empty Value where there is none.
Values pullback(std::span<const Value> outputs, std::span<const Value> cotangents,
                std::span<const Value> inputs);

// Returns x, and blocks gradients through it.
Value stop_gradient(const Value& x);

// Returns f(inputs) with a custom gradient (straight-through estimators, kernels).
Values custom_vjp(std::span<const Value> inputs,
                  const std::function<Values(std::span<const Value>)>& f, CustomVjp vjp,
                  std::source_location where = std::source_location::current());

enum class RecomputePolicy {
  kNone,       // keep every intermediate for the backward pass
  kSelective,  // keep results of products with weights; recompute scores, softmax, norms, ...
  kFull,       // keep only the inputs of f; recompute f
};
inline EnumNames<RecomputePolicy> enum_names(RecomputePolicy) {
  static constexpr std::pair<RecomputePolicy, std::string_view> kNames[] = {
      {RecomputePolicy::kNone, "none"},
      {RecomputePolicy::kSelective, "selective"},
      {RecomputePolicy::kFull, "full"}};
  return kNames;
}

// Returns f(inputs), keeping for the backward pass only what the policy allows (checkpoint.cpp).
// Selective keeps the results of dot products without batch dims, convolutions, and kernels that
// contain a product. Source: Korthikanti et al. 2022, "Reducing Activation Recomputation in Large
// Transformer Models".
Values checkpoint(RecomputePolicy policy, std::span<const Value> inputs,
                  const std::function<Values(std::span<const Value>)>& f,
                  std::source_location where = std::source_location::current());

}  // namespace hum::graph

// How a training step traces a model's stacks of identical blocks: options that trade memory and
// compile time for arithmetic and never change results.
#pragma once

#include <functional>

#include "graph/autodiff/gradients.h"
#include "graph/value.h"

namespace hum::nn {

struct BlockOptions {
  graph::RecomputePolicy recompute = graph::RecomputePolicy::kNone;
  // Blocks 0, n, 2n, ... follow `recompute`; the others keep every intermediate.
  int64_t recompute_every = 1;
  // Traces transformer layers as one scan over stacked weights: the program does not grow with
  // depth.
  bool stack_layers = false;

  graph::RecomputePolicy policy_of(int64_t block) const {
    return block % recompute_every == 0 ? recompute : graph::RecomputePolicy::kNone;
  }
};

// f(x) as block number `index`.
inline graph::Value run_block(const BlockOptions& options, int64_t index, const graph::Value& x,
                              const std::function<graph::Value(const graph::Value&)>& f) {
  const auto body = [&](std::span<const graph::Value> in) { return graph::Values{f(in[0])}; };
  return graph::checkpoint(options.policy_of(index), graph::Values{x}, body)[0];
}

// Passes x through all `blocks` in turn, block(x, more...) each.
template <typename Blocks, typename... More>
graph::Value run_blocks(const BlockOptions& options, const Blocks& blocks, graph::Value x,
                        const More&... more) {
  int64_t index = 0;
  for (const auto& block : blocks) {
    x = run_block(options, index++, x, [&](const graph::Value& in) { return block(in, more...); });
  }
  return x;
}

}  // namespace hum::nn

// Predicts the time of one training step from first principles: products at peak FLOP/s, everything
// else at memory bandwidth, collectives over links, host launches, the pipeline bubble. Non-goals:
// stragglers, data loading, schedules other than (interleaved) 1F1B.
#pragma once

#include <optional>

#include "plan/hardware.h"
#include "plan/layout.h"

namespace hum::plan {

// Seconds that add up to the step. For overlapping parts, only the time that is not hidden.
struct StepTime {
  double compute = 0;          // products and memory-bound work, recomputation included
  double host = 0;             // launches and waits that the device could not hide
  double tensor_parallel = 0;  // collectives of tp
  double pipeline = 0;         // transfers between stages
  double bubble = 0;           // stages without work
  double gradients = 0;        // reduction over dp
  double optimizer = 0;
  double total() const {
    return compute + host + tensor_parallel + pipeline + bubble + gradients + optimizer;
  }
};

// The layout's micro_batch must be set. Sources: Megatron-LM (SC21) for the layout's cost and its
// 1F1B schedules, Korthikanti et al. 2022 for what each recomputation repeats.
StepTime step_time(const Transformer& model, const Layout& layout, const Device& device,
                   const Efficiency& efficiency);

// The layout with the fastest micro-batch and interleave that divide and fit into the device's
// memory; values above 0 are kept. Empty if no choice fits.
std::optional<Layout> fastest_schedule(const Transformer& model, const Layout& layout,
                                       const Device& device, const Efficiency& efficiency);

// The layout unchanged or, if micro_batch is 0, with the fastest schedule. Throws kBadData if none
// fits.
Layout complete_layout(const Transformer& model, const Layout& layout, const Device& device,
                       const Efficiency& efficiency);

}  // namespace hum::plan

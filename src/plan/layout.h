// How a training step is laid out over devices: the mesh, the batch, what is kept and computed
// again.
#pragma once

#include <cstdint>

#include "graph/autodiff/gradients.h"
#include "plan/transformer.h"

namespace hum::plan {

struct Layout {
  int64_t dp = 1, tp = 1, pp = 1;
  int64_t global_batch = 0;  // sequences a step
  int64_t micro_batch = 0;   // sequences; 0: not known, the fastest that fits
  int64_t interleave = 0;    // model chunks a stage; 0: not known (1, or chosen with micro_batch)
  graph::RecomputePolicy recompute = graph::RecomputePolicy::kNone;
  bool flash_attention = false;        // scores never reach memory
  bool sequence_parallel = false;      // norms and residuals split over tp as well
  bool distributed_optimizer = false;  // ZeRO-1: optimizer state split over dp
  bool overlap_gradients = false;      // their reduction runs beside the backward pass

  int64_t devices() const { return dp * tp * pp; }
  int64_t micro_batches() const { return global_batch / (dp * micro_batch); }
  int64_t chunks() const { return interleave > 0 ? interleave : 1; }
};

// Throws kBadData when the mesh, the model and the batch do not divide, with the nearest that does.
// A micro_batch of 0 is not looked at.
void validate(const Transformer& model, const Layout& layout);

// The divisor of `value` that is nearest to `wanted`.
int64_t nearest_divisor(int64_t value, int64_t wanted);

}  // namespace hum::plan

// How a training step is laid out over devices: the mesh, the batch, what is kept and computed
// again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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

// How a pipeline splits blocks.
enum class StageSplit {
  kEqual,
  // Or such that the head, or embedding and head, take the place of a block on their stages: what
  // published runs did where nothing else divides. Source: Grattafiori et al. 2024 (Llama 3: 126
  // layers on 16 stages), section 3.3.2; Le Scao et al. 2022 (BLOOM: 70 on 12), section 3.3.
  kShortEnds,
};
struct Stages {
  int64_t blocks = 0;        // of the fullest stage
  bool short_first = false;  // a block less on the first stage
  bool short_last = false;   // and on the last
};
// Nothing where stages cannot be so. Stages of one block give up none.
std::optional<Stages> split_blocks(int64_t layers, int64_t pp, StageSplit split);
// Those of a layout that is valid one way or the other.
Stages stages_of(const Transformer& model, const Layout& layout);

// Throws kBadData when the mesh, the model and the batch do not divide, with the nearest that does.
// A micro_batch of 0 is not looked at.
void validate(const Transformer& model, const Layout& layout,
              StageSplit split = StageSplit::kEqual);

// In order of size; none of what is below 1.
std::vector<int64_t> divisors(int64_t value);
// The divisor of `value` that is nearest to `wanted`.
int64_t nearest_divisor(int64_t value, int64_t wanted);

}  // namespace hum::plan

// Describes how a training step is distributed over devices: the mesh, the batch, what is kept and
// what is recomputed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "plan/transformer.h"

namespace hum::plan {

struct Layout {
  int64_t dp = 1, tp = 1, pp = 1;
  int64_t global_batch = 0;  // sequences per step
  int64_t micro_batch = 0;   // sequences; 0: unknown, use the fastest that fits
  int64_t interleave = 0;    // model chunks per stage; 0: unknown (1, or chosen with micro_batch)
  graph::RecomputePolicy recompute = graph::RecomputePolicy::kNone;
  bool flash_attention = false;        // scores are not stored in memory
  bool sequence_parallel = false;      // norms and residuals split over tp as well
  bool distributed_optimizer = false;  // ZeRO-1: optimizer state split over dp
  bool overlap_gradients = false;      // their reduction overlaps the backward pass

  int64_t devices() const { return dp * tp * pp; }
  int64_t micro_batches() const { return global_batch / (dp * micro_batch); }
  int64_t chunks() const { return interleave > 0 ? interleave : 1; }
};

// How a pipeline splits blocks.
enum class StageSplit {
  kEqual,
  // Or so that the head, or embedding and head, take the place of a block on their stages:
  // published runs did this if nothing else divides. Source: Grattafiori et al. 2024 (Llama 3: 126
  // layers on 16 stages), section 3.3.2; Le Scao et al. 2022 (BLOOM: 70 on 12), section 3.3.
  kShortEnds,
};
struct Stages {
  int64_t blocks = 0;        // of the fullest stage
  bool short_first = false;  // one block fewer on the first stage
  bool short_last = false;   // and on the last
};
// Nothing if this split is impossible. Stages of one block cannot give one up.
std::optional<Stages> split_blocks(int64_t layers, int64_t pp, StageSplit split);
// The stages of a layout that is valid in either way.
Stages stages_of(const Transformer& model, const Layout& layout);

// Throws `fault` if mesh, model and batch do not divide, with the nearest that does: kUsage for a
// layout of flags, kBadData for one in a file. A micro_batch of 0 is not checked.
void validate(const Transformer& model, const Layout& layout, StageSplit split = StageSplit::kEqual,
              ExitCode fault = ExitCode::kUsage);

// In ascending order; empty for values below 1.
std::vector<int64_t> divisors(int64_t value);
// The divisor of `value` nearest to `wanted`.
int64_t nearest_divisor(int64_t value, int64_t wanted);

}  // namespace hum::plan

// Memory of one device during a training step, from the shapes alone.
#pragma once

#include "plan/layout.h"

namespace hum::plan {

// Bytes on the fullest device, the first pipeline stage. 16-bit weights and activations, f32
// gradients, master weights and two moments, as Megatron-LM keeps them.
struct Memory {
  double weights = 0, gradients = 0, optimizer = 0, activations = 0, logits = 0;
  double total() const { return weights + gradients + optimizer + activations + logits; }
};

// Parameters of the fullest device.
double parameters_per_device(const Transformer& model, const Layout& layout);

// The layout's micro_batch must be set. Source: Korthikanti et al. 2022, equations 1 to 6, with
// widths for grouped queries and gated MLPs.
Memory memory_per_device(const Transformer& model, const Layout& layout);

}  // namespace hum::plan

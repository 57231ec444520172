// Memory of one device during a training step, computed from the shapes alone.
#pragma once

#include "plan/layout.h"

namespace hum::plan {

// Bytes on the fullest device, the first pipeline stage. 16-bit weights and activations, f32
// gradients, master weights and two moments, as Megatron-LM keeps them.
struct Memory {
  double weights = 0, gradients = 0, optimizer = 0, activations = 0, logits = 0;
  // Held only during a block's backward pass: cotangents, the kernels' workspace, recomputed
  // scores; counted as far as it exceeds the logits' memory, which is free by then.
  double temporaries = 0;
  // Inputs and outputs of collectives, beyond the arrays above.
  double collectives = 0;
  double total() const {
    return weights + gradients + optimizer + activations + logits + temporaries + collectives;
  }
};

// Parameters of the fullest device.
double parameters_per_device(const Transformer& model, const Layout& layout);

// The layout's micro_batch must be set. Sources: Korthikanti et al. 2022, equations 1 to 6, with
// widths for grouped queries and gated MLPs; for temporaries the operands of each product's
// gradient, and FlashAttention-2's f32 sum of the queries' gradients (Dao 2023); for collectives
// Megatron-LM, tensor_parallel/layers.py and pipeline_parallel/p2p_communication.py. Gradients are
// reduced and weights gathered inside their own buffers (distributed/param_and_grad_buffer.py),
// ZeRO-1's too, and all-reduces over tp work in place: these need nothing more. Non-goals: NCCL's
// own buffers (so many MB a channel, and it chooses the channels), fragmentation.
Memory memory_per_device(const Transformer& model, const Layout& layout);

}  // namespace hum::plan

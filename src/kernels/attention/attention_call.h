// The custom calls of attention, for the kernel table. Settings: scale, causal, window, has_mask,
// has_first; the key mask and the first position follow the other inputs where they are there.
// joined: one qkv[B,T,G,R+2,d] stands for q, k and v, and its gradient for theirs.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (q[B,T,H,d], k[B,S,G,d], v, mask?, first?) -> (y[B,T,H,d], log_sum_exp f32[B,H,T])
extern const pjrt::KernelRow kAttentionRow;
// (q, k, v, y, log_sum_exp, dy, mask?, first?) -> (dq, dk, dv)
extern const pjrt::KernelRow kAttentionGradRow;

bool attention_available(const graph::Node& node);

}  // namespace hum::kernels

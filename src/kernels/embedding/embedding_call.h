// The custom call of embedding's gradient, for the kernel table. Setting: rows, of the table.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (ids i32[...], dy bf16[..., D]) -> dtable bf16[rows, D]
extern const pjrt::KernelRow kEmbeddingGradRow;

// Whether the kernel gains on plain ops here.
bool embedding_grad_available(const graph::Node& node);

}  // namespace hum::kernels

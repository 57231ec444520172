// Lists all kernels, and decides which of them this machine should use.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// A kernel; its folder's header declares it.
struct Kernel {
  pjrt::KernelRow call;
  // Whether it supports the node's types and sizes, and is faster on them here than plain ops.
  bool (*available)(const graph::Node& node);
};

// The kernels that a session registers with its plugin.
std::vector<pjrt::KernelRow> table();

// Whether a custom call should run its kernel on this processor: the kernel supports the
// instruction set and the types, and the problem is large enough to benefit. Otherwise plain ops
// run. HUM_KERNELS=0 disables all kernels.
bool available(const graph::Node& node);

// The instruction sets in use on this machine, e.g. "avx512_bf16 onednn:avx512_bf16"; part of the
// compile cache's key.
std::string instruction_set();

}  // namespace hum::kernels

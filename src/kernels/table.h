// All kernels, in one list, and which of them this machine should use.
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
  // Whether it knows the node's types and sizes, and is faster on them here than plain ops are.
  bool (*available)(const graph::Node& node);
};

// What a session registers with its plugin.
std::vector<pjrt::KernelRow> table();

// Whether a custom call should run its kernel on this machine's processor: the kernel knows the
// instruction set, the types, and that the problem is large enough to gain. Otherwise plain ops
// run. HUM_KERNELS=0 says no to all.
bool available(const graph::Node& node);

// What the kernels chose on this machine, e.g. "avx512_bf16 onednn:avx512_bf16"; part of the
// compile cache's key.
std::string instruction_set();

}  // namespace hum::kernels

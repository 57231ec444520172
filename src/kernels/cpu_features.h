// Which instruction set the kernels use on this machine. Chosen once, at run time.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace hum::kernels {

// Each level includes those before it.
enum class Isa : int {
  kBaseline,    // x86-64 as every such machine has it (SSE2)
  kAvx2,        // with FMA and F16C
  kAvx512,      // F, BW, VL, DQ
  kAvx512Bf16,  // native bf16 dot products
  kAmx,         // tiles with bf16 products
};
std::span<const std::pair<Isa, std::string_view>> enum_names(Isa);

// The highest level that the processor and the operating system offer. For AMX it asks the kernel
// for permission to use tile registers (ARCH_REQ_XCOMP_PERM) first.
Isa detect_isa();

// detect_isa(), capped by HUM_OPS_ISA. Throws: kConfig when that names no level.
Isa chosen_isa();

}  // namespace hum::kernels

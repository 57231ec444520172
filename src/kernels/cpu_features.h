// Selects the instruction set of the kernels on this machine, once, at run time.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace hum::kernels {

// Each level includes the previous ones.
enum class Isa : int {
  kBaseline,    // what every x86-64 processor has (SSE2)
  kAvx2,        // with FMA and F16C
  kAvx512,      // F, BW, VL, DQ
  kAvx512Bf16,  // native bf16 dot products
  kAmx,         // tiles with bf16 products
};
std::span<const std::pair<Isa, std::string_view>> enum_names(Isa);

// The highest level that the processor and the operating system support. For AMX, first requests
// permission to use tile registers (ARCH_REQ_XCOMP_PERM).
Isa detect_isa();

// detect_isa(), capped by HUM_OPS_ISA. Throws: kConfig if that is not a known level.
Isa chosen_isa();

}  // namespace hum::kernels

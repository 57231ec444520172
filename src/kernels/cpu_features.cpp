#include "kernels/cpu_features.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/env.h"
#include "base/fields.h"

namespace hum::kernels {
namespace {

constexpr std::pair<Isa, std::string_view> kNames[] = {
    {Isa::kBaseline, "baseline"},      {Isa::kAvx2, "avx2"}, {Isa::kAvx512, "avx512"},
    {Isa::kAvx512Bf16, "avx512_bf16"}, {Isa::kAmx, "amx"},
};

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

bool has(uint32_t bits, int bit) { return ((bits >> bit) & 1) != 0; }

// Register states that the operating system saves on a context switch (XCR0).
uint64_t saved_states() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

bool request_amx_permission() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

std::span<const std::pair<Isa, std::string_view>> enum_names(Isa) { return kNames; }

Isa detect_isa() {
  constexpr uint64_t kAvxStates = 0x6, kAvx512States = 0xe6, kTileStates = 0x60000;
  const Registers basic = cpuid(1, 0), extended = cpuid(7, 0), extended1 = cpuid(7, 1);
  constexpr int kOsxsave = 27, kFma = 12, kF16c = 29;
  if (!has(basic.ecx, kOsxsave)) return Isa::kBaseline;
  const uint64_t states = saved_states();

  const bool avx2 = (states & kAvxStates) == kAvxStates && has(extended.ebx, 5) &&
                    has(basic.ecx, kFma) && has(basic.ecx, kF16c);
  if (!avx2) return Isa::kBaseline;
  // AVX512 F, DQ, BW, VL
  const bool avx512 = (states & kAvx512States) == kAvx512States && has(extended.ebx, 16) &&
                      has(extended.ebx, 17) && has(extended.ebx, 30) && has(extended.ebx, 31);
  if (!avx512) return Isa::kAvx2;
  if (!has(extended1.eax, 5)) return Isa::kAvx512;
  // AMX-BF16, AMX-TILE
  const bool amx = (states & kTileStates) == kTileStates && has(extended.edx, 22) &&
                   has(extended.edx, 24) && request_amx_permission();
  return amx ? Isa::kAmx : Isa::kAvx512Bf16;
}

Isa chosen_isa() {
  static const Isa kDetected = detect_isa();
  const std::string cap = env_string("HUM_OPS_ISA");
  return cap.empty() ? kDetected : std::min(kDetected, from_name<Isa>(cap));
}

}  // namespace hum::kernels

#include "kernels/cpu_features.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"

namespace hum::kernels {
namespace {

bool processor_says(const std::string& flag) {
  const std::string info = read_file("/proc/cpuinfo");
  return (info + " ").find(" " + flag + " ") != std::string::npos ||
         info.find(" " + flag + "\n") != std::string::npos;
}

TEST(CpuFeatures, AgreeWithTheOperatingSystem) {
  const Isa isa = detect_isa();
  EXPECT_EQ(isa >= Isa::kAvx2, processor_says("avx2") && processor_says("fma"));
  EXPECT_EQ(isa >= Isa::kAvx512, processor_says("avx512bw") && processor_says("avx512vl"));
  EXPECT_EQ(isa >= Isa::kAvx512Bf16, processor_says("avx512_bf16"));
  EXPECT_EQ(isa >= Isa::kAmx, processor_says("amx_bf16"));
}

TEST(CpuFeatures, AreCappedByTheEnvironment) {
  setenv("HUM_OPS_ISA", "baseline", 1);
  EXPECT_EQ(chosen_isa(), Isa::kBaseline);
  setenv("HUM_OPS_ISA", "amx", 1);
  EXPECT_EQ(chosen_isa(), detect_isa());
  setenv("HUM_OPS_ISA", "sse9", 1);
  EXPECT_THROW(chosen_isa(), Error);
  unsetenv("HUM_OPS_ISA");
  EXPECT_EQ(chosen_isa(), detect_isa());
}

}  // namespace
}  // namespace hum::kernels

#include "kernels/table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "base/env.h"
#include "base/files.h"
#include "base/folders.h"
#include "graph/ops.h"
#include "kernels/bias_gelu/bias_gelu.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

TEST(KernelTable, HasOneRowForEachName) {
  std::set<std::string> names;
  for (const pjrt::KernelRow& row : table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(row.handler, nullptr);
    EXPECT_GE(row.version, 1);
  }
  EXPECT_FALSE(names.empty());
}

TEST(KernelTable, KnowsNothingOfOtherNodes) {
  const auto x = graph::parameter("x", {graph::DType::kF32, {4}});
  EXPECT_FALSE(available((x + x).node()));
  const auto foreign = graph::custom_call("foreign", graph::Values{x}, {},
                                          [](auto inputs) { return graph::Values{inputs[0] + 1}; });
  EXPECT_FALSE(available(foreign[0].node()));
}

// Tests list by name the kernels that must run, so each kernel's name must appear in one.
TEST(KernelTable, HasATestThatNamesEachKernel) {
  std::string tests;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_folder() / "src/kernels")) {
    const std::string path = entry.path().string();
    if (path.ends_with("_test.cpp")) tests += read_file(path);
  }
  for (const pjrt::KernelRow& row : table()) {
    EXPECT_NE(tests.find(fmt::format("\"{}\"", row.name)), tests.npos) << row.name;
  }
}

TEST(KernelTable, LeavesAllToPlainOpsOnAProcessorWithoutVectors) {
  const std::string before = env_string("HUM_OPS_ISA");
  setenv("HUM_OPS_ISA", "baseline", 1);
  const graph::Shape wide{graph::DType::kF32, {300, 16}}, row{graph::DType::kF32, {16}};
  const auto function =
      with_gradients("plain", {graph::parameter("x", wide), graph::parameter("bias", row)},
                     [](auto in) { return bias_gelu(in[0], in[1]); });
  EXPECT_EQ(kernel_calls(function), KernelCalls());
  expect_kernels_agree(function, random_inputs(function), 0, {});
  EXPECT_EQ(why_no_kernel(Isa::kAvx2),
            "the kernel needs avx2, this processor has baseline (HUM_OPS_ISA: baseline)");
  if (before.empty()) {
    unsetenv("HUM_OPS_ISA");
  } else {
    setenv("HUM_OPS_ISA", before.c_str(), 1);
  }
}

TEST(KernelTable, SaysWhichInstructionsItChose) {
  EXPECT_NE(instruction_set().find("onednn:"), std::string::npos);
  setenv("HUM_KERNELS", "0", 1);
  EXPECT_EQ(instruction_set(), "no kernels");
  unsetenv("HUM_KERNELS");
}

}  // namespace
}  // namespace hum::kernels

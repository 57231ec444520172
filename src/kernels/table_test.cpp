#include "kernels/table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "graph/ops.h"
#include "kernels/matmul/matmul.h"

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

TEST(KernelTable, SaysWhichInstructionsItChose) {
  EXPECT_NE(instruction_set().find("onednn:"), std::string::npos);
  setenv("HUM_KERNELS", "0", 1);
  EXPECT_EQ(instruction_set(), "no kernels");
  unsetenv("HUM_KERNELS");
}

}  // namespace
}  // namespace hum::kernels

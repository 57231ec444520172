#include "kernels/nearest_rows/nearest_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/cpu_features.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using ::testing::HasSubstr;

graph::Function search(int64_t count, int64_t entries, int64_t size) {
  const auto x = parameter("x", {DType::kF32, {count, size}}),
             table = parameter("table", {DType::kF32, {entries, size}}),
             offsets = parameter("offsets", {DType::kF32, {entries}});
  return {"nearest_rows", {x, table, offsets}, {nearest_rows(x, table, offsets)}, {}};
}

const KernelCalls kSearch = {"hum.nearest_rows"};

TEST(NearestRows, FindsThePlainOpsEntriesOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  const int64_t sizes[][3] = {{333, 1024, 64}, {97, 80, 16}, {32, 16, 48}, {50, 33, 20}};
  for (const auto& [count, entries, size] : sizes) {
    const auto function = search(count, entries, size);
    const bool fits = entries % 16 == 0 && size % 16 == 0;
    expect_kernels_agree(function, random_inputs(function), 0, fits ? kSearch : KernelCalls());
  }
}

TEST(NearestRows, TakesTheFirstOfEqualEntries) {
  HUM_NEEDS(Isa::kAvx2);
  const auto function = search(40, 160, 16);
  auto inputs = random_inputs(function);
  const auto zeros = [](graph::Dims dims, size_t count) {
    return runtime::HostTensor::from_floats(DType::kF32, dims, std::vector<float>(count));
  };
  inputs[1] = zeros({160, 16}, 2560);
  std::vector<float> offsets(160, 1);
  offsets[35] = offsets[50] = offsets[131] = 0;
  inputs[2] = runtime::HostTensor::from_floats(DType::kF32, {160}, offsets);
  const auto out = run_kernels(function, inputs, kSearch);
  for (const float entry : out[0].to_floats()) EXPECT_EQ(entry, 35);
}

TEST(NearestRows, RefusesWhatDoesNotFit) {
  try {
    nearest_rows(parameter("x", {DType::kF32, {4, 8}}), parameter("t", {DType::kF32, {3, 4}}),
                 parameter("o", {DType::kF32, {3}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("x f32[4,8], table f32[3,4] and offsets f32[3]"));
  }
}

}  // namespace
}  // namespace hum::kernels

// Rows in batches: their sizes and order, and that the result of a row is independent of the
// others.
#include "models/batched_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hum::models {
namespace {

using runtime::HostTensor;
using testing::ElementsAre;

std::vector<Row> rows_of(int count) {
  std::vector<Row> rows;
  for (int i = 0; i < count; ++i) {
    const auto x = static_cast<float>(i);
    rows.push_back({HostTensor::of<int32_t>({}, {i}), HostTensor::of<float>({2}, {x, x + 10})});
  }
  return rows;
}

TEST(Batches, AreFullButForTheLastAndASingleRow) {
  EXPECT_THAT(batches_of(0), ElementsAre());
  EXPECT_THAT(batches_of(1), ElementsAre(1));
  EXPECT_THAT(batches_of(2), ElementsAre(kBatchRows));
  EXPECT_THAT(batches_of(kBatchRows), ElementsAre(kBatchRows));
  EXPECT_THAT(batches_of(kBatchRows + 1), ElementsAre(kBatchRows, kBatchRows));
}

TEST(StackRows, RepeatsTheLastWhereRowsAreMissing) {
  const auto rows = rows_of(2);
  EXPECT_EQ(stack_rows(rows, 0, 4), HostTensor::of<int32_t>({4}, {0, 1, 1, 1}));
  const auto pairs = stack_rows(rows, 1, 3);
  EXPECT_EQ(pairs, HostTensor::of<float>({3, 2}, {0, 10, 1, 11, 1, 11}));
  EXPECT_THROW(stack_rows(rows, 0, 1), Error);
}

TEST(SplitRows, GivesBackWhatWasStacked) {
  const auto rows = rows_of(3);
  const auto split = split_rows(stack_rows(rows, 1, 8), 3);
  ASSERT_EQ(split.size(), 3U);
  for (size_t i = 0; i < split.size(); ++i) EXPECT_EQ(split[i], rows[i][1]) << i;
}

}  // namespace
}  // namespace hum::models

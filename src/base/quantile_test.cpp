#include "base/quantile.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace hum {
namespace {

TEST(Quantile, IsLinearBetweenNeighbours) {
  const std::vector<double> sorted = {1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.9), 6.8);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1.5), 8);
  EXPECT_THROW(quantile({}, 0.5), Error);
}

TEST(Median, OfAnEvenCountIsTheMeanOfTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median({8, 1, 4}), 4);
  EXPECT_DOUBLE_EQ(median({0.04, 0}), 0.02);
  EXPECT_DOUBLE_EQ(median({3}), 3);
}

}  // namespace
}  // namespace hum

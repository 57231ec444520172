#include "models/codec/code_vectors.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace hum::models::codec {
namespace {

using runtime::HostTensor;

// Entry e of book k is (10 k + e, -e).
HostTensor two_books() {
  std::vector<float> values;
  for (const int book : {0, 1}) {
    for (const int entry : {0, 1, 2}) {
      values.insert(values.end(),
                    {static_cast<float>(10 * book + entry), static_cast<float>(-entry)});
    }
  }
  return HostTensor::of({2, 3, 2}, std::span<const float>(values));
}

TEST(CodeVectors, AddUpTheFirstBooksOfEachFrame) {
  const std::vector<int32_t> codes = {1, 2, 0, 1};
  EXPECT_EQ(sum_code_vectors(two_books(), codes, 2), (std::vector<float>{13, -3, 11, -1}));
  EXPECT_EQ(sum_code_vectors(two_books(), codes, 1), (std::vector<float>{1, -1, 0, 0}));
  EXPECT_THROW(sum_code_vectors(two_books(), std::span(codes).first(3), 2), Error);
  EXPECT_THROW(sum_code_vectors(two_books(), std::vector<int32_t>{0, 3}, 2), Error);
}

TEST(CodeVectors, KeepTheFirstBooksOfEachFrame) {
  const std::vector<int32_t> codes = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(first_books(codes, 3, 2), (std::vector<int32_t>{1, 2, 4, 5}));
  EXPECT_EQ(first_books(codes, 3, 3), codes);
  EXPECT_THROW(first_books(codes, 4, 1), Error);
  EXPECT_THROW(first_books(codes, 3, 4), Error);
}

TEST(CodeVectors, OfTwoChannelsStandSideBySideAndTakeTurns) {
  const HostTensor both = side_by_side(two_books(), 2);
  EXPECT_EQ(both.shape().dims, (std::vector<int64_t>{4, 3, 4}));
  // One frame: the first channel has codes 1, 2, the second 0, 1.
  const std::vector<int32_t> codes = {1, 0, 2, 1};
  EXPECT_EQ(sum_code_vectors(both, codes, 4), (std::vector<float>{13, -3, 11, -1}));
  EXPECT_EQ(sum_code_vectors(both, codes, 1), (std::vector<float>{1, -1, 0, 0}));
  EXPECT_EQ(side_by_side(two_books(), 1).to_floats(), two_books().to_floats());
}

TEST(CodeVectors, OfAMonoSoundStandInTheFirstChannelsPlace) {
  const std::vector<int32_t> codes = {1, 2, 0, 1};  // two frames
  EXPECT_EQ(sum_code_vectors(side_by_side(two_books(), 2), codes, 2, 2),
            (std::vector<float>{13, -3, 0, 0, 11, -1, 0, 0}));
}

}  // namespace
}  // namespace hum::models::codec

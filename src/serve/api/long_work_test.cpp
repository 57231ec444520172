#include "serve/api/long_work.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "base/error.h"
#include "base/testing/refusal.h"

namespace hum::serve {
namespace {

using std::chrono::milliseconds;

TEST(LongWork, RunsWaitsOrIsRefused) {
  LongWork work(1, 1, std::chrono::minutes(1));
  std::optional<LongWork::Permit> first = work.begin();
  std::future<void> second =
      std::async(std::launch::async, [&] { const auto turn = work.begin(); });
  EXPECT_EQ(second.wait_for(milliseconds(200)), std::future_status::timeout);
  EXPECT_EQ(testing::code_of([&] { const auto turn = work.begin(); }), ExitCode::kTemporary);
  first.reset();
  second.get();
  const auto third = work.begin();
}

TEST(LongWork, WhatHasWaitedInVainLeavesItsPlace) {
  LongWork work(1, 1, milliseconds(20));
  std::optional<LongWork::Permit> first = work.begin();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(testing::code_of([&] { const auto turn = work.begin(); }), ExitCode::kTemporary);
  }
  first.reset();
  const auto second = work.begin();
}

}  // namespace
}  // namespace hum::serve

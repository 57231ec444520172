#include "kernels/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/pool_workers.h"

namespace hum::kernels {
namespace {

TEST(Team, RunsEachChunkOfEachLoopOnce) {
  PoolWorkers workers(4);
  for (int team_number = 0; team_number < 20; ++team_number) {
    Team team(workers);
    for (int64_t count = 0; count < 40; ++count) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(count));
      team.for_each_chunk(count, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
      for (const auto& times : runs) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Team, FinishesALoopBeforeTheNext) {
  PoolWorkers workers(3);
  Team team(workers);
  std::vector<int> last(64, -1);  // not atomic: each loop sees what the one before it wrote
  for (int loop = 0; loop < 2000; ++loop) {
    team.for_each_chunk(64, [&](int64_t i) {
      const size_t other = static_cast<size_t>(i + loop) % 64;
      EXPECT_EQ(last[other], loop % 2 == 0 ? -1 : loop - 1);
    });
    team.for_each_chunk(
        64, [&](int64_t i) { last[static_cast<size_t>(i)] = loop % 2 == 0 ? loop : -1; });
  }
}

// Helpers that fell asleep between two loops still help.
TEST(Team, GoesOnAfterAPause) {
  PoolWorkers workers(2);
  Team team(workers);
  for (int loop = 0; loop < 5; ++loop) {
    std::atomic<int> begun = 0;
    const auto wait_for_both = [&](int64_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    };
    team.for_each_chunk(2, wait_for_both);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

class NeverStarting final : public Workers {
 public:
  int threads() const override { return 8; }
  void schedule(std::function<void()> task) override { tasks.push_back(std::move(task)); }
  std::vector<std::function<void()>> tasks;
};

TEST(Team, DoesNotWaitForHelpersThatNeverStart) {
  NeverStarting workers;
  int sum = 0;
  {
    Team team(workers);
    for (int loop = 0; loop < 3; ++loop) {
      team.for_each_chunk(5, [&](int64_t i) { sum += static_cast<int>(i); });
    }
  }
  EXPECT_EQ(sum, 30);
  for (const auto& task : workers.tasks) task();  // too late: they return at once
  EXPECT_EQ(sum, 30);
}

TEST(Team, RethrowsWhatAChunkThrowsAndGoesOn) {
  PoolWorkers workers(3);
  Team team(workers);
  std::atomic<int> runs = 0;
  const auto body = [&](int64_t i) {
    ++runs;
    if (i == 7) throw std::runtime_error("seven");
  };
  EXPECT_THROW(team.for_each_chunk(20, body), std::runtime_error);
  EXPECT_EQ(runs, 20);
  team.for_each_chunk(5, body);
  EXPECT_EQ(runs, 25);
}

}  // namespace
}  // namespace hum::kernels

#include "kernels/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/pool_workers.h"

namespace hum::kernels {
namespace {

// Queues tasks and runs none before run_all().
class LateWorkers final : public Workers {
 public:
  int threads() const override { return 8; }
  void schedule(std::function<void()> task) override { tasks_.push_back(std::move(task)); }
  void run_all() {
    for (const auto& task : tasks_) task();
  }

 private:
  std::vector<std::function<void()>> tasks_;
};

TEST(ForEachChunk, RunsEachChunkOnce) {
  PoolWorkers workers(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> runs(37);
    for_each_chunk(workers, 37, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
}

TEST(ForEachChunk, DoesNotWaitForHelpersThatNeverStart) {
  LateWorkers workers;
  int sum = 0;
  for_each_chunk(workers, 5, [&](int64_t i) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 10);
  workers.run_all();  // late helpers find nothing left
  EXPECT_EQ(sum, 10);
}

// Claims four threads but can start only one helper.
class FewWorkers final : public Workers {
 public:
  int threads() const override { return 4; }
  void schedule(std::function<void()> task) override {
    if (thread_.joinable()) throw std::runtime_error("no more threads");
    thread_ = std::jthread(std::move(task));
  }

 private:
  std::jthread thread_;
};

TEST(ForEachChunk, DoesWithTheHelpersThatCame) {
  FewWorkers workers;
  std::atomic<int64_t> sum = 0;
  for_each_chunk(workers, 1000, [&](int64_t i) { sum += i; });
  EXPECT_EQ(sum, 499500);
}

TEST(ForEachChunk, RethrowsWhatAChunkThrows) {
  PoolWorkers workers(3);
  std::atomic<int> runs = 0;
  EXPECT_THROW(for_each_chunk(workers, 20,
                              [&](int64_t i) {
                                ++runs;
                                if (i == 7) throw std::runtime_error("seven");
                              }),
               std::runtime_error);
  EXPECT_EQ(runs, 20);
}

TEST(ForEachChunk, RunsFromManyThreadsAtOnce) {
  PoolWorkers workers(3);
  std::atomic<int64_t> total = 0;
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back([&] {
        for (int round = 0; round < 500; ++round) {
          for_each_chunk(workers, 9, [&](int64_t i) { total += i; });
        }
      });
    }
  }
  EXPECT_EQ(total, 4 * 500 * 36);
}

TEST(ForEachRange, CoversEverythingOnce) {
  PoolWorkers workers(3);
  for (const int64_t count : {0, 1, 7, 1000, 1001}) {
    for (const int64_t grain : {1, 16, 5000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(count));
      for_each_range(workers, count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++runs[static_cast<size_t>(i)];
      });
      for (const auto& times : runs) EXPECT_EQ(times, 1) << count << " by " << grain;
    }
  }
}

TEST(ThreadScratch, IsAlignedAndBelongsToItsThread) {
  const auto mine = thread_scratch(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mine.data()) % 64, 0U);
  EXPECT_EQ(thread_scratch(50).data(), mine.data());
  std::jthread([&] { EXPECT_NE(thread_scratch(100).data(), mine.data()); }).join();
}

}  // namespace
}  // namespace hum::kernels

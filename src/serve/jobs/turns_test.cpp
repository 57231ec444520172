#include "serve/jobs/turns.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace hum::serve {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Jobs that each take some turns, all of them waiting before the first turn begins.
class TurnsTest : public ::testing::Test {
 protected:
  void add(const std::string& name, const std::string& caller, int windows, int awaited = 0) {
    threads_.emplace_back([this, name, caller, windows, awaited] {
      Turns::Place place(turns_, caller);
      ++came_;
      for (int i = 0; i < windows; ++i) {
        place.take(i < awaited);
        log_.push_back(name);  // only one has the turn
      }
    });
    // So that they come in this order, however long a thread takes to start, and then wait.
    while (came_ < threads_.size()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  const std::vector<std::string>& run() {
    gate_.leave();
    threads_.clear();
    return log_;
  }
  void SetUp() override { gate_.take(true); }

 private:
  Turns turns_{1};
  Turns::Place gate_{turns_, "gate"};
  std::vector<std::string> log_;
  std::atomic<size_t> came_ = 0;
  std::vector<std::jthread> threads_;
};

TEST_F(TurnsTest, ALongJobAndAShortOneAlternate) {
  add("long", "a", 8);
  add("short", "a", 3);
  EXPECT_THAT(run(), ElementsAre("long", "short", "long", "short", "long", "short", "long", "long",
                                 "long", "long", "long"));
}

TEST_F(TurnsTest, CallersAlternateHoweverManyJobsTheyHave) {
  for (int i = 0; i < 3; ++i) add("many", "a", 4);
  add("few", "b", 4);
  const auto& log = run();
  ASSERT_EQ(log.size(), 16U);
  EXPECT_EQ(std::count(log.begin(), log.begin() + 8, "few"), 4);
}

TEST_F(TurnsTest, WhoWaitsForAFirstSoundGoesFirstInOrder) {
  add("playing", "a", 3);
  add("first", "a", 3, 2);
  add("second", "a", 2, 2);
  const auto& log = run();
  EXPECT_THAT(std::vector(log.begin(), log.begin() + 4),
              ElementsAre("first", "first", "second", "second"));
  EXPECT_EQ(log.size(), 8U);
}

TEST_F(TurnsTest, WhoLeavesLetsTheOthersGoOn) {
  add("one", "a", 1);
  add("two", "b", 5);
  const auto& log = run();
  EXPECT_THAT(std::vector(log.begin() + 2, log.end()), Each("two"));
}

TEST(Turns, AsManyAsMayRunAtOnce) {
  Turns turns(2);
  std::atomic<int> running = 0, most = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Turns::Place place(turns, "a");
      for (int window = 0; window < 5; ++window) {
        place.take(false);
        const int now = ++running;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        --running;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(most, 2);
}

}  // namespace
}  // namespace hum::serve

#include "app/extraction/sqlite_table.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "base/scratch_folder.h"
#include "base/testing/refusal.h"

namespace hum::app {
namespace {

using hum::testing::code_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kLong_s = 600;
// A lease that is over when it begins.
constexpr double kOver_s = 0;

class Table : public ::testing::Test {
 protected:
  SqliteTable open(double lease_s = kLong_s) const {
    return {folder_ / "table.sqlite", {{"codec", "a"}}, lease_s};
  }
  // Recordings /0, /1, ...
  static std::vector<FoundFile> files(int count) {
    std::vector<FoundFile> result;
    for (int i = 0; i < count; ++i) result.push_back({fmt::format("/{}", i), 100});
    return result;
  }
  static std::vector<int64_t> numbers(const Claim& claim) {
    std::vector<int64_t> result;
    for (const auto& recording : claim.recordings) result.push_back(recording.number);
    return result;
  }
  static data::ShardEntry shard(const std::string& name) { return {name, 3, 1000, "5a"}; }

  ScratchFolder folder_;
};

TEST_F(Table, AddsEachLocationOnceAndClaimsInOrder) {
  auto table = open();
  EXPECT_EQ(table.count_new(files(3)), 3);
  EXPECT_EQ(table.add(files(3)), 3);
  EXPECT_EQ(table.add(files(5)), 2);
  EXPECT_EQ(table.count_new(files(6)), 1);
  const Claim first = table.claim(2), second = table.claim(10);
  EXPECT_THAT(numbers(first), ElementsAre(1, 2));
  EXPECT_EQ(first.recordings[1].location, "/1");
  EXPECT_THAT(numbers(second), ElementsAre(3, 4, 5));
  EXPECT_THAT(table.claim(10).recordings, IsEmpty());
  EXPECT_EQ(table.counts().claimed, 5);
}

TEST_F(Table, KeepsResultsAndReturnsWhatHasNone) {
  auto table = open();
  table.add(files(3));
  const Claim claim = table.claim(3);
  ASSERT_TRUE(table.announce(claim.lease, "a.tar"));
  const RecordingResult results[] = {{.number = 1, .seconds = 12, .windows = {3, 1, 2}},
                                     {.number = 2, .failure = "is empty"}};
  EXPECT_TRUE(table.finish(claim.lease, results, shard("a.tar")));
  const TableCounts counts = table.counts();
  EXPECT_EQ(counts.done, 1);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.waiting, 1);
  EXPECT_EQ(counts.seconds, 12);
  EXPECT_EQ(counts.windows.kept, 3);
  EXPECT_EQ(counts.windows.silent, 1);
  EXPECT_EQ(counts.windows.without_notes, 2);
  ASSERT_EQ(table.set_aside().size(), 1U);
  EXPECT_EQ(table.set_aside()[0].location, "/1");
  EXPECT_EQ(table.set_aside()[0].reason, "is empty");
  // That it was returned does not count against it: it is claimed together with a new one.
  table.add(files(4));
  EXPECT_THAT(numbers(table.claim(10)), ElementsAre(3, 4));
  EXPECT_EQ(table.requeue_failed(), 1);
  EXPECT_THAT(numbers(table.claim(10)), ElementsAre(2));
}

TEST_F(Table, CommitsNothingOfALostLease) {
  auto slow = open(kOver_s);
  auto other = open();
  slow.add(files(1));
  const Claim lost = slow.claim(1);
  EXPECT_TRUE(slow.announce(lost.lease, "a.tar"));
  const Claim claim = other.claim(1);
  EXPECT_THAT(numbers(claim), ElementsAre(1));
  EXPECT_FALSE(slow.renew(lost.lease));
  EXPECT_FALSE(slow.announce(lost.lease, "a.tar"));
  EXPECT_EQ(slow.note_content(lost.lease, 1, "5a"), Content::kLeaseLost);
  const RecordingResult result[] = {{.number = 1, .windows = {1, 0, 0}}};
  EXPECT_FALSE(slow.finish(lost.lease, result, shard("a.tar")));
  other.with_shards([](std::span<const TableShard> shards) { EXPECT_TRUE(shards.empty()); });
  EXPECT_TRUE(other.finish(claim.lease, result, shard("b.tar")));
  other.with_shards([](std::span<const TableShard> shards) {
    ASSERT_EQ(shards.size(), 1U);
    EXPECT_EQ(shards[0].entry.name, "b.tar");
    EXPECT_EQ(shards[0].entry.bytes, 1000);
    EXPECT_TRUE(shards[0].is_listed);
  });
}

TEST_F(Table, RenewsALeaseThatNobodyHasTakenOver) {
  auto table = open(kOver_s);
  table.add(files(1));
  const Claim claim = table.claim(1);
  EXPECT_TRUE(open().renew(claim.lease));
  EXPECT_THAT(table.claim(1).recordings, IsEmpty());
}

TEST_F(Table, ShowsAnnouncedShardsWhileTheLeaseLasts) {
  auto table = open();
  table.add(files(1));
  const Claim claim = table.claim(1);
  table.announce(claim.lease, "a.tar");
  table.with_shards([](std::span<const TableShard> shards) {
    ASSERT_EQ(shards.size(), 1U);
    EXPECT_EQ(shards[0].entry.name, "a.tar");
    EXPECT_FALSE(shards[0].is_listed);
  });
}

// What kills its process takes no other recording with it, and fails in the end.
TEST_F(Table, TakesASuspectAloneAndGivesItUpAtLast) {
  auto table = open(kOver_s);
  table.add(files(2));
  EXPECT_THAT(numbers(table.claim(10)), ElementsAre(1, 2));
  for (int64_t attempt = 1; attempt < RecordingTable::kMostAttempts; ++attempt) {
    EXPECT_THAT(numbers(table.claim(10)), ElementsAre(1));
    EXPECT_THAT(numbers(table.claim(10)), ElementsAre(2));
  }
  EXPECT_THAT(table.claim(10).recordings, IsEmpty());
  EXPECT_EQ(table.counts().failed, 2);
  EXPECT_THAT(table.set_aside()[0].reason, HasSubstr("8 processes ended"));
}

TEST_F(Table, SetsDuplicatesAsideAsLongAsTheFirstDoesNotFail) {
  auto table = open();
  table.add(files(3));
  const Claim claim = table.claim(3);
  EXPECT_EQ(table.note_content(claim.lease, 1, "5a"), Content::kNew);
  EXPECT_EQ(table.note_content(claim.lease, 2, "5a"), Content::kDuplicate);
  EXPECT_EQ(table.note_content(claim.lease, 3, "77"), Content::kNew);
  EXPECT_EQ(table.counts().duplicate, 1);
  const RecordingResult results[] = {{.number = 1, .failure = "it changed"},
                                     {.number = 3, .windows = {1, 0, 0}}};
  EXPECT_TRUE(table.finish(claim.lease, results, shard("a.tar")));
  EXPECT_EQ(table.counts().duplicate, 0);
  const Claim again = table.claim(3);
  EXPECT_THAT(numbers(again), ElementsAre(2));
  EXPECT_EQ(table.note_content(again.lease, 2, "77"), Content::kDuplicate);
}

// Nothing is lost if the first of two equal files is gone when it is read again.
TEST_F(Table, LetsDuplicatesWaitAgainWhenTheFirstIsReturnedLostOrRequeued) {
  auto table = open();
  auto dead = open(kOver_s);
  table.add(files(2));
  const RecordingResult second[] = {{.number = 2, .windows = {1, 0, 0}}};
  Claim claim = table.claim(2);
  table.note_content(claim.lease, 1, "5a");
  EXPECT_EQ(table.note_content(claim.lease, 2, "5a"), Content::kDuplicate);
  EXPECT_TRUE(table.finish(claim.lease, {}, std::nullopt));  // returned
  EXPECT_EQ(table.counts().waiting, 2);
  claim = dead.claim(2);
  dead.note_content(claim.lease, 1, "5a");
  EXPECT_EQ(dead.note_content(claim.lease, 2, "5a"), Content::kDuplicate);
  claim = table.claim(2);
  EXPECT_THAT(numbers(claim), ElementsAre(2));  // the first is suspect now
  EXPECT_EQ(table.note_content(claim.lease, 2, "5a"), Content::kNew);
  const Claim first = table.claim(2);
  EXPECT_EQ(table.note_content(first.lease, 1, "5a"), Content::kDuplicate);
  EXPECT_TRUE(table.finish(first.lease, {}, std::nullopt));
  EXPECT_TRUE(table.finish(claim.lease, second, shard("a.tar")));
  EXPECT_EQ(table.counts().duplicate, 1);
  EXPECT_EQ(table.requeue_shard("a.tar"), 1);
  EXPECT_EQ(table.counts().waiting, 2);
}

TEST_F(Table, RequeuesTheRecordingsOfAShard) {
  auto table = open();
  table.add(files(2));
  const Claim claim = table.claim(1);
  const RecordingResult result[] = {{.number = 1, .seconds = 6, .windows = {1, 0, 0}}};
  table.finish(claim.lease, result, shard("a.tar"));
  EXPECT_EQ(table.requeue_shard("b.tar"), 0);
  EXPECT_EQ(table.requeue_shard("a.tar"), 1);
  EXPECT_EQ(table.counts().waiting, 2);
  EXPECT_EQ(table.counts().seconds, 0);
  table.with_shards([](std::span<const TableShard> shards) { EXPECT_TRUE(shards.empty()); });
}

TEST_F(Table, IsOfOneSetOfOptions) {
  const std::string file = folder_ / "table.sqlite";
  EXPECT_EQ(code_of([&] { SqliteTable(file, nullptr, 1); }), ExitCode::kNoInput);
  open();
  EXPECT_EQ(SqliteTable(file, nullptr, 1).options(), Json({{"codec", "a"}}));
  EXPECT_EQ(code_of([&] { SqliteTable(file, {{"codec", "b"}}, 1); }), ExitCode::kUsage);
  Database(file, false).run("PRAGMA user_version = 2");
  EXPECT_EQ(code_of([&] { open(); }), ExitCode::kConfig);
}

TEST_F(Table, GivesEachRecordingToOneOfManyThatClaimAtOnce) {
  constexpr int kRecordings = 60;
  std::vector<std::vector<int64_t>> claimed(4);
  std::vector<std::jthread> claimers;
  for (auto& own : claimed) {
    claimers.emplace_back([&own, this] {
      auto table = open();  // all create it at once
      table.add(files(kRecordings));
      for (Claim claim = table.claim(3); !claim.recordings.empty(); claim = table.claim(3)) {
        std::vector<RecordingResult> results;
        for (const int64_t number : numbers(claim)) {
          own.push_back(number);
          results.push_back({.number = number});
        }
        EXPECT_TRUE(table.finish(claim.lease, results, std::nullopt));
      }
    });
  }
  claimers.clear();
  std::set<int64_t> all;
  size_t count = 0;
  for (const auto& own : claimed) {
    all.insert(own.begin(), own.end());
    count += own.size();
  }
  EXPECT_EQ(count, static_cast<size_t>(kRecordings));
  EXPECT_EQ(all.size(), static_cast<size_t>(kRecordings));
  EXPECT_EQ(open().counts().done, kRecordings);
}

}  // namespace
}  // namespace hum::app

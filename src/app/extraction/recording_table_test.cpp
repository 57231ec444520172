// What every table of recordings does, in SQLite and in PostgreSQL.
#include "app/extraction/recording_table.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "app/extraction/postgres_table.h"
#include "app/extraction/sqlite_table.h"
#include "base/scratch_folder.h"
#include "base/testing/postgres_server.h"
#include "base/testing/refusal.h"

namespace hum::app {
namespace {

using hum::testing::code_of;
using hum::testing::PostgresServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kLong_s = 600;
// A lease that is over when it begins.
constexpr double kOver_s = 0;

// One table of each kind, and a way to fill it with recordings /0, /1, ...
class InSqlite {
 public:
  SqliteTable open(double lease_s, const Json& options) const {
    return {folder_ / "table.sqlite", options, lease_s};
  }
  static int64_t add(SqliteTable& table, int count) {
    std::vector<FoundFile> files;
    for (int i = 0; i < count; ++i) files.push_back({fmt::format("/{}", i), 100});
    return table.add(files);
  }
  // The database's clock shows so much more than before.
  void jump_clock(double seconds) const {
    Database(folder_ / "table.sqlite", false)
        .run("UPDATE leases SET until_s = until_s - ?", seconds);
  }
  void set_version(int version) const {
    Database(folder_ / "table.sqlite", false)
        .run_script(fmt::format("PRAGMA user_version = {}", version).c_str());
  }

 private:
  ScratchFolder folder_;
};

class InPostgres {
 public:
  InPostgres() {
    Postgres database(url_);
    create_postgres_schema(database);
    database.query("CREATE TABLE recordings(id integer PRIMARY KEY, location text)");
  }
  PostgresTable open(double lease_s, const Json& options) const {
    return {Postgres(url_), {.name = "job", .made_with = options, .output = "/features"}, lease_s};
  }
  int64_t add(PostgresTable& table, int64_t count) const {
    Postgres(url_).query(
        "INSERT INTO recordings SELECT i, '/' || i FROM generate_series(0, $1 - 1) AS i "
        "ON CONFLICT DO NOTHING",
        count);
    return table.sync({}).added;
  }
  void jump_clock(double seconds) const {
    Postgres(url_).query("UPDATE hum.leases SET until = until - make_interval(secs => $1)",
                         seconds);
  }
  void set_version(int64_t version) const {
    Postgres(url_).query("UPDATE hum.format SET version = $1", version);
  }

 private:
  const std::string url_ = PostgresServer::shared().new_database();
};

template <typename Kind>
class Table : public ::testing::Test {
 protected:
  auto open(double lease_s = kLong_s) const { return kind_.open(lease_s, {{"codec", "a"}}); }
  static std::vector<int64_t> numbers(const Claim& claim) {
    std::vector<int64_t> result;
    for (const auto& recording : claim.recordings) result.push_back(recording.number);
    return result;
  }
  static data::ShardEntry shard(const std::string& name) { return {name, 3, 1000, "5a"}; }

  Kind kind_;
};
class KindNames {
 public:
  template <typename Kind>
  static std::string GetName(int) {
    return std::is_same_v<Kind, InSqlite> ? "InSqlite" : "InPostgres";
  }
};
using Kinds = ::testing::Types<InSqlite, InPostgres>;
TYPED_TEST_SUITE(Table, Kinds, KindNames);

TYPED_TEST(Table, AddsEachLocationOnceAndClaimsInOrder) {
  auto table = this->open();
  EXPECT_EQ(this->kind_.add(table, 3), 3);
  EXPECT_EQ(this->kind_.add(table, 5), 2);
  const Claim first = table.claim(2), second = table.claim(10);
  EXPECT_THAT(this->numbers(first), ElementsAre(1, 2));
  EXPECT_EQ(first.recordings[1].location, "/1");
  EXPECT_THAT(this->numbers(second), ElementsAre(3, 4, 5));
  EXPECT_THAT(table.claim(10).recordings, IsEmpty());
  EXPECT_EQ(table.counts().claimed, 5);
}

TYPED_TEST(Table, KeepsResultsAndReturnsWhatHasNone) {
  auto table = this->open();
  this->kind_.add(table, 3);
  const Claim claim = table.claim(3);
  ASSERT_TRUE(table.announce(claim.lease, "a.tar"));
  const RecordingResult results[] = {{.number = 1, .seconds = 12, .windows = {3, 1, 2}},
                                     {.number = 2, .failure = "is empty"}};
  EXPECT_TRUE(table.finish(claim.lease, results, this->shard("a.tar")));
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
  this->kind_.add(table, 4);
  EXPECT_THAT(this->numbers(table.claim(10)), ElementsAre(3, 4));
  EXPECT_EQ(table.requeue_failed(), 1);
  EXPECT_THAT(this->numbers(table.claim(10)), ElementsAre(2));
}

TYPED_TEST(Table, CommitsNothingOfALostLease) {
  auto slow = this->open(kOver_s);
  auto other = this->open();
  this->kind_.add(slow, 1);
  const Claim lost = slow.claim(1);
  EXPECT_TRUE(slow.announce(lost.lease, "a.tar"));
  const Claim claim = other.claim(1);
  EXPECT_THAT(this->numbers(claim), ElementsAre(1));
  EXPECT_FALSE(slow.renew(lost.lease));
  EXPECT_FALSE(slow.announce(lost.lease, "a.tar"));
  EXPECT_EQ(slow.note_content(lost.lease, 1, "5a"), Content::kLeaseLost);
  const RecordingResult result[] = {{.number = 1, .windows = {1, 0, 0}}};
  EXPECT_FALSE(slow.finish(lost.lease, result, this->shard("a.tar")));
  other.with_shards([](std::span<const TableShard> shards) { EXPECT_TRUE(shards.empty()); });
  EXPECT_TRUE(other.finish(claim.lease, result, this->shard("b.tar")));
  other.with_shards([](std::span<const TableShard> shards) {
    ASSERT_EQ(shards.size(), 1U);
    EXPECT_EQ(shards[0].entry.name, "b.tar");
    EXPECT_EQ(shards[0].entry.bytes, 1000);
    EXPECT_TRUE(shards[0].is_listed);
  });
}

TYPED_TEST(Table, LosesAndRepeatsNothingWhenTheClockJumps) {
  constexpr double kHour_s = 3600;
  auto first = this->open(), second = this->open();
  this->kind_.add(first, 1);
  const RecordingResult result[] = {{.number = 1, .windows = {1, 0, 0}}};
  const Claim lost = first.claim(1);
  this->kind_.jump_clock(kHour_s);
  const Claim claim = second.claim(1);
  EXPECT_THAT(this->numbers(claim), ElementsAre(1));
  EXPECT_FALSE(first.finish(lost.lease, result, this->shard("a.tar")));
  this->kind_.jump_clock(-kHour_s);
  EXPECT_THAT(first.claim(1).recordings, IsEmpty());
  // From its next heartbeat on, a lease lasts as long as ever.
  EXPECT_TRUE(second.renew(claim.lease));
  this->kind_.jump_clock(kLong_s + 1);
  const Claim taken_over = first.claim(1);
  EXPECT_THAT(this->numbers(taken_over), ElementsAre(1));
  EXPECT_FALSE(second.finish(claim.lease, result, this->shard("b.tar")));
  EXPECT_TRUE(first.finish(taken_over.lease, result, this->shard("c.tar")));
  EXPECT_EQ(first.counts().done, 1);
  first.with_shards([](std::span<const TableShard> shards) {
    ASSERT_EQ(shards.size(), 1U);
    EXPECT_EQ(shards[0].entry.name, "c.tar");
  });
}

TYPED_TEST(Table, RenewsALeaseThatNobodyHasTakenOver) {
  auto table = this->open(kOver_s);
  this->kind_.add(table, 1);
  const Claim claim = table.claim(1);
  EXPECT_TRUE(this->open().renew(claim.lease));
  EXPECT_THAT(table.claim(1).recordings, IsEmpty());
}

TYPED_TEST(Table, ShowsAnnouncedShardsWhileTheLeaseLasts) {
  auto table = this->open();
  this->kind_.add(table, 1);
  const Claim claim = table.claim(1);
  table.announce(claim.lease, "a.tar");
  table.with_shards([](std::span<const TableShard> shards) {
    ASSERT_EQ(shards.size(), 1U);
    EXPECT_EQ(shards[0].entry.name, "a.tar");
    EXPECT_FALSE(shards[0].is_listed);
  });
}

// What kills its process takes no other recording with it, and fails in the end.
TYPED_TEST(Table, TakesASuspectAloneAndGivesItUpAtLast) {
  auto table = this->open(kOver_s);
  this->kind_.add(table, 2);
  EXPECT_THAT(this->numbers(table.claim(10)), ElementsAre(1, 2));
  for (int64_t attempt = 1; attempt < RecordingTable::kMostAttempts; ++attempt) {
    EXPECT_THAT(this->numbers(table.claim(10)), ElementsAre(1));
    EXPECT_THAT(this->numbers(table.claim(10)), ElementsAre(2));
  }
  EXPECT_THAT(table.claim(10).recordings, IsEmpty());
  EXPECT_EQ(table.counts().failed, 2);
  EXPECT_THAT(table.set_aside()[0].reason, HasSubstr("8 processes ended"));
}

TYPED_TEST(Table, SetsDuplicatesAsideAsLongAsTheFirstDoesNotFail) {
  auto table = this->open();
  this->kind_.add(table, 3);
  const Claim claim = table.claim(3);
  EXPECT_EQ(table.note_content(claim.lease, 1, "5a"), Content::kNew);
  EXPECT_EQ(table.note_content(claim.lease, 2, "5a"), Content::kDuplicate);
  EXPECT_EQ(table.note_content(claim.lease, 3, "77"), Content::kNew);
  EXPECT_EQ(table.counts().duplicate, 1);
  const RecordingResult results[] = {{.number = 1, .failure = "it changed"},
                                     {.number = 3, .windows = {1, 0, 0}}};
  EXPECT_TRUE(table.finish(claim.lease, results, this->shard("a.tar")));
  EXPECT_EQ(table.counts().duplicate, 0);
  const Claim again = table.claim(3);
  EXPECT_THAT(this->numbers(again), ElementsAre(2));
  EXPECT_EQ(table.note_content(again.lease, 2, "77"), Content::kDuplicate);
}

// Nothing is lost if the first of two equal files is gone when it is read again.
TYPED_TEST(Table, LetsDuplicatesWaitAgainWhenTheFirstIsReturnedLostOrRequeued) {
  auto table = this->open();
  auto dead = this->open(kOver_s);
  this->kind_.add(table, 2);
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
  EXPECT_THAT(this->numbers(claim), ElementsAre(2));  // the first is suspect now
  EXPECT_EQ(table.note_content(claim.lease, 2, "5a"), Content::kNew);
  const Claim first = table.claim(2);
  EXPECT_EQ(table.note_content(first.lease, 1, "5a"), Content::kDuplicate);
  EXPECT_TRUE(table.finish(first.lease, {}, std::nullopt));
  EXPECT_TRUE(table.finish(claim.lease, second, this->shard("a.tar")));
  EXPECT_EQ(table.counts().duplicate, 1);
  EXPECT_EQ(table.requeue_shard("a.tar"), 1);
  EXPECT_EQ(table.counts().waiting, 2);
}

TYPED_TEST(Table, RequeuesTheRecordingsOfAShard) {
  auto table = this->open();
  this->kind_.add(table, 2);
  const Claim claim = table.claim(1);
  const RecordingResult result[] = {{.number = 1, .seconds = 6, .windows = {1, 0, 0}}};
  table.finish(claim.lease, result, this->shard("a.tar"));
  EXPECT_EQ(table.requeue_shard("b.tar"), 0);
  EXPECT_EQ(table.requeue_shard("a.tar"), 1);
  EXPECT_EQ(table.counts().waiting, 2);
  EXPECT_EQ(table.counts().seconds, 0);
  table.with_shards([](std::span<const TableShard> shards) { EXPECT_TRUE(shards.empty()); });
}

TYPED_TEST(Table, IsOfOneSetOfOptions) {
  EXPECT_EQ(code_of([&] { this->kind_.open(1, nullptr); }), ExitCode::kNoInput);
  this->open();
  EXPECT_EQ(this->kind_.open(1, nullptr).options(), Json({{"codec", "a"}}));
  EXPECT_EQ(code_of([&] { this->kind_.open(1, {{"codec", "b"}}); }), ExitCode::kUsage);
  this->kind_.set_version(2);
  EXPECT_EQ(code_of([&] { this->open(); }), ExitCode::kConfig);
}

TEST(SqliteTable, CountsTheFilesThatAreNew) {
  const ScratchFolder folder;
  SqliteTable table(folder / "table.sqlite", {{"codec", "a"}}, 1);
  const std::vector<FoundFile> files = {{"/0", 1}, {"/1", 1}};
  EXPECT_EQ(table.count_new(files), 2);
  table.add(std::span(files).first(1));
  EXPECT_EQ(table.count_new(files), 1);
}

TYPED_TEST(Table, GivesEachRecordingToOneOfManyThatClaimAtOnce) {
  constexpr int kRecordings = 60;
  std::vector<std::vector<int64_t>> claimed(4);
  std::vector<std::jthread> claimers;
  for (auto& own : claimed) {
    claimers.emplace_back([&own, this] {
      auto table = this->open();  // all create it at once
      this->kind_.add(table, kRecordings);
      for (Claim claim = table.claim(3); !claim.recordings.empty(); claim = table.claim(3)) {
        std::vector<RecordingResult> results;
        for (const int64_t number : this->numbers(claim)) {
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
  EXPECT_EQ(this->open().counts().done, kRecordings);
}

}  // namespace
}  // namespace hum::app

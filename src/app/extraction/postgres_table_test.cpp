// What a table in PostgreSQL does beside what all tables do (recording_table_test.cpp).
#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "app/extraction/test_postgres_table.h"
#include "base/rng.h"
#include "base/testing/postgres_server.h"
#include "base/testing/refusal.h"

namespace hum::app {
namespace {

using hum::testing::code_of;
using hum::testing::message_of;
using hum::testing::PostgresServer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(PostgresTableTest, KeepsJobsApart) {
  create_recordings(2);
  EXPECT_FALSE(has_job(owner_, "job"));
  auto table = open();
  EXPECT_TRUE(has_job(owner_, "job"));
  PostgresTable other(Postgres(url_), job("other"), kLong_s);
  table.sync({});
  EXPECT_EQ(count_source(owner_, "job", {}).added, 0);
  EXPECT_EQ(count_source(owner_, "other", {}).added, 2);
  EXPECT_THAT(other.claim(2).recordings, IsEmpty());
  other.sync({});
  EXPECT_EQ(table.claim(2).recordings.size(), 2U);
  EXPECT_EQ(other.counts().waiting, 2);
  EXPECT_EQ(table.counts().claimed, 2);
  const auto message = [&](const PostgresJob& job) {
    return message_of([&] { PostgresTable(Postgres(url_), job, kLong_s); });
  };
  EXPECT_THAT(message({}), AllOf(HasSubstr("several jobs"), HasSubstr("job, other")));
  EXPECT_THAT(message({.name = "nothing"}), HasSubstr("no job nothing"));
  PostgresJob elsewhere = job();
  elsewhere.output = "/elsewhere";
  EXPECT_THAT(message(elsewhere), HasSubstr("lie in /job"));
  elsewhere.output = "/other";
  EXPECT_THAT(message(elsewhere), HasSubstr("holds the shards of job other"));
}

TEST_F(PostgresTableTest, AsksForTheSchemaAndCreatesItOnce) {
  Postgres database(server_.new_database());
  database.run_script("CREATE TABLE recordings AS SELECT 1 AS id, '/1'::text AS location");
  EXPECT_EQ(count_source(database, "job", {}).added, 1);
  EXPECT_THAT(message_of([&] { require_postgres_schema(database); }), HasSubstr("--init"));
  EXPECT_FALSE(has_job(database, "job"));
  create_postgres_schema(database);
  create_postgres_schema(database);
  require_postgres_schema(database);
}

// The grants of docs/cli/data.md.
TEST_F(PostgresTableTest, NeedsOnlyTheDocumentedPrivileges) {
  create_recordings(2);
  owner_.run_script(R"sql(
    DROP ROLE IF EXISTS hum_worker;
    CREATE ROLE hum_worker LOGIN PASSWORD 'secret';
    GRANT SELECT (id, location) ON recordings TO hum_worker)sql");
  const std::string url = PostgresServer::as_user(url_, "hum_worker:secret");
  const auto open_as_worker = [&] { return PostgresTable(Postgres(url), job(), kLong_s); };
  EXPECT_EQ(code_of(open_as_worker), ExitCode::kNoPermission);
  owner_.run_script(R"sql(
    GRANT USAGE ON SCHEMA hum TO hum_worker;
    GRANT SELECT ON hum.format TO hum_worker;
    GRANT SELECT, INSERT, UPDATE ON hum.jobs, hum.recordings, hum.counts TO hum_worker;
    GRANT SELECT, INSERT, UPDATE, DELETE ON hum.leases, hum.shards TO hum_worker)sql");
  {
    auto table = open_as_worker();
    EXPECT_THAT(message_of([&] { table.sync({.write_back = "outcome"}); }),
                AllOf(HasSubstr("lacks UPDATE on column outcome"), HasSubstr("GRANT")));
    EXPECT_EQ(code_of([&] { table.sync({.licence_column = "licence"}); }), ExitCode::kNoPermission);
    EXPECT_EQ(table.sync({}).added, 2);
    const Claim claim = table.claim(1);
    EXPECT_TRUE(table.renew(claim.lease));
    EXPECT_EQ(table.note_content(claim.lease, claim.recordings[0].number, "5a"), Content::kNew);
    EXPECT_TRUE(table.announce(claim.lease, "a.tar"));
    const RecordingResult result[] = {{.number = claim.recordings[0].number, .windows = {1, 0, 0}}};
    EXPECT_TRUE(table.finish(claim.lease, result, data::ShardEntry{"a.tar", 1, 9, "77"}));
    EXPECT_EQ(table.requeue_shard("a.tar"), 1);
    EXPECT_EQ(table.requeue_failed(), 0);
    table.with_shards([](std::span<const TableShard> shards) { EXPECT_THAT(shards, IsEmpty()); });
    EXPECT_EQ(table.counts().waiting, 2);
    owner_.query("GRANT UPDATE (outcome) ON recordings TO hum_worker");
    table.sync({.write_back = "outcome"});
    const Claim again = table.claim(1);
    const RecordingResult done[] = {{.number = again.recordings[0].number}};
    EXPECT_TRUE(table.finish(again.lease, done, std::nullopt));
    EXPECT_THAT(outcomes(), UnorderedElementsAre("done", ""));
  }
  owner_.run_script("DROP OWNED BY hum_worker; DROP ROLE hum_worker");
}

// hum.counts never differs from what it counts.
TEST_F(PostgresTableTest, CountsWhatIsThere) {
  create_recordings(40);
  auto table = open(), dying = open(/*lease_s=*/0);
  table.sync({});
  Rng rng(7, "counts");
  for (int round = 0; round < 60; ++round) {
    PostgresTable& one = rng.chance(0.3) ? dying : table;
    const Claim claim = one.claim(rng.integer(1, 5));
    std::vector<RecordingResult> results;
    for (const auto& recording : claim.recordings) {
      const auto content =
          one.note_content(claim.lease, recording.number, std::to_string(rng.integer(0, 30)));
      if (content != Content::kNew || rng.chance(0.2)) continue;
      results.push_back({.number = recording.number, .seconds = rng.uniform(0, 10)});
      if (rng.chance(0.3)) results.back() = {.number = recording.number, .failure = "is empty"};
      results.back().windows.kept = results.back().failure.empty() ? rng.integer(0, 3) : 0;
    }
    const std::string shard = fmt::format("{}.tar", round);
    one.announce(claim.lease, shard);
    if (rng.chance(0.8)) one.finish(claim.lease, results, data::ShardEntry{shard, 1, 9, "77"});
    if (rng.chance(0.2)) one.requeue_failed();
    if (rng.chance(0.2)) one.requeue_shard(fmt::format("{}.tar", rng.integer(0, round)));
  }
  EXPECT_EQ(table.counts().all(), 40);
  expect_true_counts(table);
}

TEST_F(PostgresTableTest, CountsWhatIsAddedAndRemovedByHand) {
  create_recordings(5);
  auto table = open();
  table.sync({});
  const Claim claim = table.claim(2);
  const RecordingResult results[] = {
      {.number = claim.recordings.at(0).number, .seconds = 7, .windows = {2, 1, 1}},
      {.number = claim.recordings.at(1).number, .seconds = 5, .windows = {1, 0, 0}}};
  EXPECT_TRUE(table.finish(claim.lease, results, data::ShardEntry{"a.tar", 3, 9, "77"}));
  owner_.query("DELETE FROM hum.recordings WHERE key IN ('1', '3')");
  EXPECT_EQ(table.counts().all(), 3);
  EXPECT_EQ(table.counts().windows.kept, 1);
  expect_true_counts(table);
  owner_.query(
      "INSERT INTO hum.recordings(job, key, location, rank, state, seconds, kept) "
      "SELECT job, 'by hand', '/1', 0, 'done', 4.5, 1 FROM hum.jobs");
  EXPECT_EQ(table.counts().done, 2);
  expect_true_counts(table);
  owner_.query("DELETE FROM hum.recordings WHERE state = 'waiting'");
  EXPECT_TRUE(table.counts().is_finished());
  owner_.query("TRUNCATE hum.recordings");
  EXPECT_EQ(table.counts().all(), 0);
  EXPECT_EQ(table.sync({}).added, 5);
  EXPECT_EQ(table.counts().waiting, 5);
}

TEST_F(PostgresTableTest, FindsOneFirstAmongThoseWhoNoteTheSameContentAtOnce) {
  constexpr int kPairs = 20;
  create_recordings(2 * kPairs);
  open().sync({});
  std::array<std::vector<Content>, 2> contents;
  {
    std::vector<std::jthread> threads;
    for (auto& own : contents) {
      threads.emplace_back([&own, this] {
        auto table = open();
        const Claim claim = table.claim(kPairs);
        for (int i = 0; i < kPairs; ++i) {
          own.push_back(
              table.note_content(claim.lease, claim.recordings.at(i).number, std::to_string(i)));
        }
      });
    }
  }
  for (size_t i = 0; i < kPairs; ++i) {
    const bool both_new = contents[0][i] == Content::kNew && contents[1][i] == Content::kNew;
    EXPECT_FALSE(both_new) << i;
  }
}

TEST_F(PostgresTableTest, LosesNothingWhenTheServerEnds) {
  create_recordings(3);
  auto table = open();
  table.sync({});
  const Claim claim = table.claim(2);
  ASSERT_TRUE(table.announce(claim.lease, "a.tar"));
  const RecordingResult results[] = {{.number = claim.recordings[0].number, .windows = {1, 0, 0}},
                                     {.number = claim.recordings[1].number, .windows = {1, 0, 0}}};
  server_.kill();
  std::jthread finishing([&] {
    EXPECT_TRUE(table.finish(claim.lease, results, data::ShardEntry{"a.tar", 2, 9, "77"}));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  server_.start();
  finishing.join();
  EXPECT_EQ(table.counts().done, 2);
  // The same once more, as after a commit whose answer was lost.
  EXPECT_TRUE(table.finish(claim.lease, results, data::ShardEntry{"a.tar", 2, 9, "77"}));
  EXPECT_FALSE(table.finish(claim.lease, results, data::ShardEntry{"b.tar", 2, 9, "78"}));
  EXPECT_EQ(table.claim(3).recordings.size(), 1U);
}

TEST_F(PostgresTableTest, SeesUrgentRecordingsBeforeThoseThatWaitLonger) {
  create_recordings(5);
  const RecordingSource source{.priority_column = "priority"};
  auto table = open();
  table.sync(source);
  EXPECT_THAT(locations(table.claim(2)), ElementsAre("/1", "/2"));
  owner_.query("INSERT INTO recordings(location, priority) VALUES ('/urgent', 5)");
  auto other = open();
  other.sync(source);
  EXPECT_THAT(locations(other.claim(1)), ElementsAre("/urgent"));
}

}  // namespace
}  // namespace hum::app

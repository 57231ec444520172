// What a job in PostgreSQL reads from the user's table, and writes back to it.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "app/extraction/test_postgres_table.h"
#include "base/testing/refusal.h"

namespace hum::app {
namespace {

using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(PostgresTableTest, ReadsTheColumnsThatItIsTold) {
  owner_.run_script(R"sql(
    CREATE SCHEMA "My music";
    CREATE TABLE "My music"."Takes"(
      "Take" uuid, path varchar(40), mono text, rights integer, "how urgent" numeric);
    INSERT INTO "My music"."Takes" VALUES
      ('00000000-0000-0000-0000-000000000001', '/late', '', NULL, NULL),
      ('00000000-0000-0000-0000-000000000002', '/first', '/mono', 4, 2.5),
      ('00000000-0000-0000-0000-000000000003', NULL, NULL, 0, 'NaN'),
      ('00000000-0000-0000-0000-000000000003', NULL, NULL, 0, 'NaN'),
      (NULL, '/without', NULL, 0, 1))sql");
  const RecordingSource source{.table = "My music.Takes",
                               .key_column = "Take",
                               .location_column = "path",
                               .reference_column = "mono",
                               .licence_column = "rights",
                               .priority_column = "how urgent"};
  EXPECT_EQ(count_source(owner_, "job", source).found, 5);
  auto table = open();
  EXPECT_EQ(count_source(owner_, "job", source).added, 4);  // keys that come twice are seen later
  const SourceCounts counts = table.sync(source);
  EXPECT_EQ(counts.found, 5);
  EXPECT_EQ(counts.added, 3);
  EXPECT_EQ(table.sync(source).added, 0);
  const Claim claim = table.claim(10);
  EXPECT_THAT(locations(claim), ElementsAre("/first", "/late", ""));
  EXPECT_EQ(claim.recordings[0].reference, "/mono");
  EXPECT_EQ(claim.recordings[0].licence, "4");
  EXPECT_EQ(claim.recordings[1].reference, "");
  EXPECT_EQ(claim.recordings[1].licence, "");
}

TEST_F(PostgresTableTest, ReadsTablesAndColumnsWithDotsAndQuotesInTheirNames) {
  owner_.run_script(R"sql(
    CREATE TABLE "all.takes"("a.id" text, "file.path" text, "say ""how""" integer, "b.c" text);
    INSERT INTO "all.takes" VALUES ('1', '/late', 1), ('2', '/first', 2))sql");
  RecordingSource source{.table = R"("all.takes")",
                         .key_column = "a.id",
                         .location_column = "file.path",
                         .priority_column = R"(say "how")",
                         .write_back = "b.c"};
  try_write_back(owner_, source);
  auto table = open();
  table.sync(source);
  const Claim claim = table.claim(1);
  EXPECT_THAT(locations(claim), ElementsAre("/first"));
  const RecordingResult result[] = {{.number = claim.recordings.at(0).number}};
  EXPECT_TRUE(table.finish(claim.lease, result, std::nullopt));
  EXPECT_EQ(owner_.query(R"sql(SELECT "b.c" FROM "all.takes" WHERE "a.id" = '2')sql").text(0, 0),
            "done");
  source.table = "all.takes";
  EXPECT_THAT(message_of([&] { source_sql(owner_, source); }), HasSubstr("double quotes"));
}

TEST_F(PostgresTableTest, NamesTheFlagOfWhatTheSourceLacks) {
  create_recordings(1);
  owner_.query("ALTER TABLE recordings ADD COLUMN sound bytea");
  const auto message = [&](const RecordingSource& source) {
    return message_of([&] { source_sql(owner_, source); });
  };
  EXPECT_THAT(message({.table = "music"}),
              AllOf(HasSubstr("no table music"), HasSubstr("--table")));
  EXPECT_THAT(message({.location_column = "locations"}),
              AllOf(HasSubstr("no column locations"), HasSubstr("--location-column"),
                    HasSubstr("the table has location")));
  EXPECT_THAT(message({.location_column = "sound"}),
              AllOf(HasSubstr("of type bytea, not text"), HasSubstr("--location-column")));
  EXPECT_THAT(message({.priority_column = "location"}),
              AllOf(HasSubstr("of type text, not a number"), HasSubstr("--priority-column")));
  EXPECT_THAT(message({.write_back = "id"}), HasSubstr("--write-back"));
  EXPECT_THAT(message({.reference_column = "x"}), HasSubstr("--reference-column"));
  EXPECT_THAT(message({.licence_column = "x\"; DROP TABLE recordings; --"}),
              HasSubstr("--licence-column"));
  EXPECT_EQ(code_of([&] { source_sql(owner_, {.key_column = "x"}); }), ExitCode::kUsage);
  EXPECT_EQ(message({.write_back = "outcome"}), "nothing was thrown");
}

TEST_F(PostgresTableTest, TakesUpWhatChangesUntilARecordingIsDone) {
  create_recordings(2);
  auto table = open();
  table.sync({});
  const Claim claim = table.claim(2);
  const RecordingResult results[] = {
      {.number = claim.recordings[0].number},
      {.number = claim.recordings[1].number, .failure = "is missing"}};
  EXPECT_TRUE(table.finish(claim.lease, results, std::nullopt));
  owner_.query("UPDATE recordings SET location = '/new' || id");
  owner_.query("INSERT INTO recordings(location) VALUES ('/3')");
  EXPECT_EQ(table.sync({}).added, 1);
  EXPECT_EQ(table.requeue_failed(), 1);
  EXPECT_THAT(locations(table.claim(3)), ElementsAre("/new2", "/3"));
}

TEST_F(PostgresTableTest, WritesBackWhatBecameOfARecording) {
  create_recordings(4);
  const RecordingSource source{.write_back = "outcome"};
  auto table = open();
  table.sync(source);
  Claim claim = table.claim(3);
  const auto& recordings = claim.recordings;
  table.note_content(claim.lease, recordings[0].number, "5a");
  table.note_content(claim.lease, recordings[1].number, "5a");
  const RecordingResult results[] = {{.number = recordings[0].number},
                                     {.number = recordings[2].number, .failure = "is empty"}};
  EXPECT_TRUE(table.finish(claim.lease, results, std::nullopt));
  EXPECT_THAT(outcomes(), ElementsAre("done", "duplicate", "failed", ""));
  auto dying = open(/*lease_s=*/0);
  dying.sync(source);
  for (int i = 0; i <= RecordingTable::kMostAttempts; ++i) dying.claim(1);
  EXPECT_THAT(outcomes(), ElementsAre("done", "duplicate", "failed", "failed"));
}

TEST_F(PostgresTableTest, RefusesAColumnThatDoesNotTakeWhatIsWrittenBack) {
  create_recordings(2);
  const RecordingSource source{.write_back = "outcome"};
  const auto message = [&] { return message_of([&] { try_write_back(owner_, source); }); };
  EXPECT_EQ(message(), "nothing was thrown");
  EXPECT_THAT(outcomes(), ElementsAre("", ""));
  owner_.query("ALTER TABLE recordings ALTER outcome TYPE varchar(6)");
  EXPECT_THAT(message(), AllOf(HasSubstr("column outcome does not take 'duplicate'"),
                               HasSubstr("too long"), HasSubstr("--write-back")));
  EXPECT_EQ(code_of([&] { try_write_back(owner_, source); }), ExitCode::kUsage);
  owner_.query(
      "ALTER TABLE recordings ALTER outcome TYPE text, ADD CHECK (outcome IN ('done', 'no'))");
  EXPECT_THAT(message(), AllOf(HasSubstr("does not take 'failed'"), HasSubstr("constraint")));
  owner_.run_script(
      "CREATE TABLE known(outcome text PRIMARY KEY);"
      "ALTER TABLE recordings DROP CONSTRAINT recordings_outcome_check,"
      "ADD FOREIGN KEY (outcome) REFERENCES known DEFERRABLE INITIALLY DEFERRED");
  EXPECT_THAT(message(), HasSubstr("does not take 'done'"));
  EXPECT_THAT(outcomes(), ElementsAre("", ""));
}

TEST_F(PostgresTableTest, LeavesOnlyRowsWithoutWhatIsWrittenBackThatRejectIt) {
  create_recordings(4);
  owner_.query("ALTER TABLE recordings ADD CHECK (id <> 2 OR outcome IS NULL)");
  auto table = open();
  table.sync({.write_back = "outcome"});
  const Claim claim = table.claim(3);
  std::vector<RecordingResult> results;
  for (const auto& recording : claim.recordings) results.push_back({.number = recording.number});
  EXPECT_TRUE(table.finish(claim.lease, results, std::nullopt));
  EXPECT_THAT(outcomes(), ElementsAre("done", "", "done", ""));
  EXPECT_EQ(table.counts().done, 3);
  const Claim next = table.claim(3);
  const RecordingResult result[] = {{.number = next.recordings.at(0).number}};
  EXPECT_TRUE(table.finish(next.lease, result, std::nullopt));
  EXPECT_THAT(outcomes(), ElementsAre("done", "", "done", "done"));
}

}  // namespace
}  // namespace hum::app

// Databases of earlier versions.
#include <gmock/gmock.h>

#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

using testing::RecordsTest;

// As hum wrote it: a job that is done, one that waits, an upload and a key.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE uploads(
  id TEXT PRIMARY KEY, caller TEXT NOT NULL, job TEXT, seconds REAL NOT NULL, source TEXT NOT NULL,
  created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE jobs(
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, caller TEXT NOT NULL,
  task TEXT NOT NULL, upload TEXT, timbre TEXT, backing TEXT,
  status TEXT NOT NULL, stage TEXT NOT NULL DEFAULT '', progress REAL NOT NULL DEFAULT 0,
  seconds_left REAL, results TEXT NOT NULL DEFAULT '[]', error TEXT,
  attempts INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 1,
  created_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL DEFAULT 0,
  expires_ms INTEGER, due_ms INTEGER NOT NULL DEFAULT 0,
  owner TEXT, lease_until_ms INTEGER);
CREATE INDEX waiting_jobs ON jobs(number) WHERE status = 'queued';
CREATE INDEX running_jobs ON jobs(number) WHERE status = 'running';
CREATE INDEX jobs_of_callers ON jobs(caller, number);
CREATE INDEX expiring_jobs ON jobs(expires_ms) WHERE expires_ms IS NOT NULL;
CREATE TABLE documents(
  job TEXT PRIMARY KEY, options TEXT NOT NULL, notes TEXT, heard TEXT) WITHOUT ROWID;
CREATE TABLE idempotency_keys(
  caller TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, subject TEXT NOT NULL,
  position INTEGER NOT NULL, created_ms INTEGER NOT NULL, PRIMARY KEY(caller, key)) WITHOUT ROWID;
CREATE INDEX keys_of_subjects ON idempotency_keys(subject);
CREATE TABLE dead_letters(
  job TEXT PRIMARY KEY, reason TEXT NOT NULL, attempts INTEGER NOT NULL,
  at_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE workers(
  owner TEXT PRIMARY KEY, is_ready INTEGER NOT NULL, seen_ms INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO jobs(id, caller, task, status, results, created_ms) VALUES
  ('done', '', 'generate', 'done',
   '[{"name":"take-1.wav","bytes":700},{"name":"melody.json","bytes":50},{"name":"x"}]', 1),
  ('waits', '', 'generate', 'queued', '[]', 2),
  ('sound', '@presets', 'generate', 'queued', '[]', 3);
INSERT INTO documents(job, options) VALUES('done', '{}'), ('waits', '{"preset":"flute","fast":false}'),
  ('sound', '{"fast":true}');
INSERT INTO uploads VALUES('sent', '', NULL, 2.5, '{}', 1, 99999999999999);
INSERT INTO idempotency_keys VALUES('', 'k', 'f', 'waits', 1, 99999999999999);
PRAGMA user_version = 1;
)sql";

TEST_F(RecordsTest, Version1BecomesVersion3AndKeepsEverything) {
  Database(file(), true).run_script(kVersion1);
  const Quota quota{.jobs = 10, .seconds_per_hour = 100, .bytes = 750};
  SqliteRecords records(file(), {.quota_of = [&](const std::string&) { return quota; }});
  EXPECT_EQ(records.job("local", "done")->results.size(), 3U);
  EXPECT_EQ(records.job("local", "waits")->request.options,
            parse_json(R"({"preset": "flute", "lm": true})"));
  EXPECT_EQ(records.any_job("sound")->request.options, parse_json(R"({"lm": false})"));
  EXPECT_EQ(records.upload("local", "sent")->seconds, 2.5);
  EXPECT_EQ(records.earlier("local", {"k", "f"})->id, "waits");
  EXPECT_EQ(records.any_job("sound")->request.caller, "@presets");
  const auto limit = records.reached_limit("local", /*is_job=*/false);
  ASSERT_TRUE(limit) << "the results have 750 bytes";
  EXPECT_EQ(limit->name, "bytes");
  EXPECT_EQ(claimed(records).job, "waits");
  records.sweep(testing::nobody_is_dead);
  SqliteRecords again(file());
  EXPECT_EQ(again.counts().uploads, 1) << "the upgrade runs once";
  Database database(file(), true);
  Statement version = database.query("PRAGMA user_version");
  EXPECT_TRUE(version.next());
  EXPECT_EQ(version.integer(0), 3);
}

}  // namespace
}  // namespace hum::serve

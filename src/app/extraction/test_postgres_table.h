// Test helpers: a database with a job, and a source of recordings for it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "app/extraction/postgres_table.h"
#include "base/testing/postgres_server.h"

namespace hum::app {

inline constexpr double kLong_s = 600;

class PostgresTableTest : public ::testing::Test {
 protected:
  PostgresTableTest() { create_postgres_schema(owner_); }

  PostgresJob job(const std::string& name = "job") const {
    return {.name = name, .made_with = {{"codec", "a"}}, .output = "/" + name};
  }
  PostgresTable open(double lease_s = kLong_s) const { return {Postgres(url_), job(), lease_s}; }
  // Recordings 1, 2, ... at /1, /2, ...
  void create_recordings(int64_t count) {
    owner_.query(
        "CREATE TABLE recordings(id serial PRIMARY KEY, location text, priority integer, "
        "mono text, licence text, outcome text)");
    owner_.query("INSERT INTO recordings(location) SELECT '/' || i FROM generate_series(1, $1) i",
                 count);
  }
  static std::vector<std::string> locations(const Claim& claim) {
    std::vector<std::string> result;
    for (const auto& recording : claim.recordings) result.push_back(recording.location);
    return result;
  }
  std::vector<std::string> outcomes() {
    const auto rows = owner_.query("SELECT coalesce(outcome, '') FROM recordings ORDER BY id");
    std::vector<std::string> result;
    for (int64_t i = 0; i < rows.size(); ++i) result.push_back(rows.text(i, 0));
    return result;
  }
  // Of the recordings of the only job.
  void expect_true_counts(PostgresTable& table) {
    const auto rows = owner_.query(
        "SELECT state, count(*), sum(seconds), sum(kept)::bigint, sum(silent)::bigint, "
        "sum(without_notes)::bigint FROM hum.recordings GROUP BY state");
    TableCounts expected;
    for (int64_t i = 0; i < rows.size(); ++i) {
      expected.set(from_name<RecordingState>(rows.text(i, 0)), rows.integer(i, 1), rows.real(i, 2),
                   {rows.integer(i, 3), rows.integer(i, 4), rows.integer(i, 5)});
    }
    const TableCounts counts = table.counts();
    EXPECT_EQ(counts.waiting, expected.waiting);
    EXPECT_EQ(counts.claimed, expected.claimed);
    EXPECT_EQ(counts.done, expected.done);
    EXPECT_EQ(counts.failed, expected.failed);
    EXPECT_EQ(counts.duplicate, expected.duplicate);
    EXPECT_NEAR(counts.seconds, expected.seconds, 1e-6);
    EXPECT_EQ(counts.windows.kept, expected.windows.kept);
    EXPECT_EQ(counts.windows.silent, expected.windows.silent);
    EXPECT_EQ(counts.windows.without_notes, expected.windows.without_notes);
  }

  hum::testing::PostgresServer& server_ = hum::testing::PostgresServer::shared();
  const std::string url_ = server_.new_database();
  Postgres owner_{url_};
};

}  // namespace hum::app

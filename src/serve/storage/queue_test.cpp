// Whose job a worker gets next.
#include <gmock/gmock.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

using ::testing::ElementsAre;
using testing::RecordsTest;
using testing::some_job;

class QueueTest : public RecordsTest {};

TEST_F(QueueTest, CallersTakeTurns) {
  SqliteRecords records(file());
  for (int i = 0; i < 20; ++i) accept(records, some_job("many"));
  std::string last_of_few;
  for (int i = 0; i < 2; ++i) last_of_few = accept(records, some_job("few"));
  EXPECT_EQ(records.position(*records.any_job(last_of_few)), 4);
  std::vector<std::string> callers;
  while (const auto claimed = records.claim("w")) {
    callers.push_back(claimed->first.request.caller);
    records.finish(claimed->second, Json::array());
  }
  ASSERT_EQ(callers.size(), 22U);
  EXPECT_THAT(std::span(callers).first(4), ElementsAre("many", "few", "many", "few"));
  EXPECT_TRUE(std::ranges::all_of(std::span(callers).subspan(4),
                                  [](const std::string& caller) { return caller == "many"; }));
}

TEST_F(QueueTest, AJobIsAcceptedAtTheSamePlaceThatItIsShownAt) {
  SqliteRecords records(file());
  accept(records, some_job("first"));
  const Lease running = claimed(records);
  std::vector<std::string> ids;
  std::vector<int64_t> places;
  for (const char* caller : {"a", "a", "b", "a", "b", "c", "first"}) {
    const JobRequest job = some_job(caller);
    ids.push_back(job.id);
    places.push_back(records.accept(job, {}, std::nullopt).position);
    EXPECT_EQ(records.position(*records.any_job(job.id)), places.back()) << places.size();
    EXPECT_EQ(records.states({job.id}).at(job.id).position, places.back()) << places.size();
  }
  EXPECT_THAT(places, ElementsAre(1, 2, 2, 4, 4, 3, 4));
  EXPECT_EQ(records.position(*records.any_job(running.job)), 0) << "it is not in the queue";
  EXPECT_EQ(records.position(*records.any_job(ids[0])), 4) << "others came, whose turn is equal";
}

TEST_F(QueueTest, CallersWithFewRunningJobsAndThoseWhoWantNotesGoFirst) {
  SqliteRecords records(file());
  for (int i = 0; i < 3; ++i) accept(records, some_job("many"));
  claimed(records);
  const std::string sound = accept(records, some_job("few"));
  JobRequest notes = some_job("third");
  notes.task = Task::kNotes;
  accept(records, notes);
  EXPECT_EQ(claimed(records).job, notes.id);
  EXPECT_EQ(claimed(records).job, sound);
  EXPECT_EQ(records.claim("w")->first.request.caller, "many");
}

TEST_F(QueueTest, AWorkerMayLeaveLongJobsToOthers) {
  SqliteRecords records(file());
  JobRequest job = some_job();
  job.notes[0]["end"] = 300;
  job.options["takes"] = 2;
  accept(records, job);
  EXPECT_TRUE(records.any_due());
  EXPECT_FALSE(records.any_due(599));
  EXPECT_FALSE(records.claim("w", 599));
  const auto claimed = records.claim("w", 600);
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claimed->first.request.work_s, 600);
}

}  // namespace
}  // namespace hum::serve

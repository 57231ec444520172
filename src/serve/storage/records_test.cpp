#include "serve/storage/records.h"

#include <gmock/gmock.h>

#include <array>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kFault;
using testing::nobody_is_dead;
using testing::RecordsTest;
using testing::some_job;
using testing::some_upload;

TEST_F(RecordsTest, AJobIsQueuedLeasedAndDone) {
  SqliteRecords records(file());
  const std::string id = accept(records);
  auto job = records.job("", id);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->status, Status::kQueued);
  EXPECT_EQ(records.position(*job), 1);
  EXPECT_EQ(job->request.options["preset"], "violin");
  const Lease lease = claimed(records, "w1");
  EXPECT_EQ(lease.job, id);
  EXPECT_FALSE(records.claim("w2"));
  EXPECT_TRUE(records.progress(lease, {"play", 0.5, 3.0}));
  EXPECT_TRUE(records.set_heard(lease, {{"notes", Json::array()}}));
  job = records.job("", id);
  EXPECT_EQ(job->status, Status::kRunning);
  EXPECT_EQ(job->stage, "play");
  EXPECT_EQ(job->progress, 0.5);
  EXPECT_EQ(job->seconds_left, 3.0);
  EXPECT_TRUE(job->heard.is_object());
  const int64_t version = job->version;
  EXPECT_TRUE(records.finish(lease, Json::array({{{"name", "take-1.wav"}}})));
  job = records.job("", id);
  EXPECT_EQ(job->status, Status::kDone);
  EXPECT_EQ(job->progress, 1);
  EXPECT_EQ(job->results[0]["name"], "take-1.wav");
  EXPECT_GT(job->version, version);
  EXPECT_FALSE(records.finish(lease, Json::array())) << "a job ends once";
}

TEST_F(RecordsTest, ReopenedRecordsKnowTheirJobs) {
  const std::string id = accept(*std::make_unique<SqliteRecords>(file()));
  SqliteRecords again(file());
  EXPECT_EQ(again.any_job(id)->status, Status::kQueued);
}

TEST_F(RecordsTest, TheOldestJobIsLeasedFirst) {
  SqliteRecords records(file());
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(accept(records));
  EXPECT_EQ(records.position(*records.any_job(ids[2])), 3);
  for (const std::string& id : ids) EXPECT_EQ(claimed(records).job, id);
}

TEST_F(RecordsTest, AnExpiredLeaseReturnsTheJobAndIsWorthNothing) {
  SqliteRecords records(file(), {.lease = std::chrono::milliseconds(1000),
                                 .first_backoff = std::chrono::milliseconds(0)});
  const std::string id = accept(records);
  const Lease first = claimed(records, "slow");
  EXPECT_EQ(records.sweep(nobody_is_dead).requeued, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_EQ(records.sweep(nobody_is_dead).requeued, 1);
  const Lease second = claimed(records, "quick");
  EXPECT_EQ(second.job, id);
  EXPECT_EQ(second.attempt, 2);
  EXPECT_FALSE(records.renew(first));
  EXPECT_FALSE(records.progress(first, {"play", 0.9, std::nullopt}));
  EXPECT_FALSE(records.set_heard(first, Json::object()));
  EXPECT_FALSE(records.finish(first, Json::array()));
  EXPECT_FALSE(records.fail_job(first, kFault));
  EXPECT_FALSE(records.retry(first, kFault, "late"));
  EXPECT_FALSE(records.give_back(first));
  EXPECT_TRUE(records.finish(second, Json::array()));
}

TEST_F(RecordsTest, ARenewedLeaseLasts) {
  SqliteRecords records(file(), {.lease = std::chrono::milliseconds(1000)});
  accept(records);
  const Lease lease = claimed(records);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_TRUE(records.renew(lease));
    EXPECT_EQ(records.sweep(nobody_is_dead).requeued, 0) << i;
  }
}

TEST_F(RecordsTest, ADeadOwnerLosesItsJobAtOnce) {
  SqliteRecords records(file(), {.first_backoff = std::chrono::milliseconds(0)});
  accept(records);
  accept(records);
  claimed(records, "dead");
  const Lease alive = claimed(records, "alive");
  records.report_worker({"dead", true});
  records.report_worker({"alive", true});
  const Swept swept = records.sweep([](const std::string& owner) { return owner == "dead"; });
  EXPECT_EQ(swept.requeued, 1);
  EXPECT_TRUE(records.renew(alive));
  ASSERT_EQ(records.workers().size(), 1U);
  EXPECT_EQ(records.workers()[0].owner, "alive");
}

TEST_F(RecordsTest, ARetryWaitsLongerEachTimeAndEndsAsADeadLetter) {
  SqliteRecords records(file(),
                        {.first_backoff = std::chrono::milliseconds(500), .max_attempts = 3});
  const std::string id = accept(records);
  for (int attempt = 1; attempt < 3; ++attempt) {
    EXPECT_TRUE(records.retry(claimed(records), kFault, "the disk is full"));
    EXPECT_FALSE(records.claim("w")) << "it must wait";
    std::this_thread::sleep_for(std::chrono::milliseconds(attempt * 550));
  }
  const Lease last = claimed(records);
  EXPECT_EQ(last.attempt, 3);
  EXPECT_TRUE(records.retry(last, kFault, "the disk is full"));
  const auto job = records.any_job(id);
  EXPECT_EQ(job->status, Status::kFailed);
  EXPECT_EQ(job->error, kFault);
  const auto letters = records.dead_letters();
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_EQ(letters[0].job, id);
  EXPECT_EQ(letters[0].reason, "the disk is full");
  EXPECT_EQ(letters[0].attempts, 3);
}

TEST_F(RecordsTest, AJobThatKillsItsWorkersIsGivenUp) {
  SqliteRecords records(file(), {.first_backoff = std::chrono::milliseconds(0), .max_attempts = 2});
  const std::string id = accept(records);
  const auto all_dead = [](const std::string&) { return true; };
  claimed(records);
  EXPECT_EQ(records.sweep(all_dead).requeued, 1);
  claimed(records);
  EXPECT_EQ(records.sweep(all_dead).dead, 1);
  EXPECT_EQ(records.any_job(id)->status, Status::kFailed);
  EXPECT_THAT(records.dead_letters()[0].reason, HasSubstr("died"));
}

TEST_F(RecordsTest, AJobWhoseWorkersDiedRunsAlone) {
  SqliteRecords records(file(), {.first_backoff = std::chrono::milliseconds(0)});
  accept(records);
  accept(records);
  for (int attempt = 1; attempt <= 2; ++attempt) {
    claimed(records);
    claimed(records);
    EXPECT_EQ(records.sweep([](const std::string&) { return true; }).requeued, 2);
  }
  const std::string fresh = accept(records);
  const Lease first = claimed(records);
  EXPECT_FALSE(records.claim("w")) << "the second one waits, and so does the new one behind it";
  EXPECT_NE(claimed(records, "another worker").job, fresh);
  EXPECT_TRUE(records.finish(first, Json::array()));
  EXPECT_EQ(claimed(records).job, fresh);
}

TEST_F(RecordsTest, AJobThatIsGivenBackHasNotBegun) {
  SqliteRecords records(file());
  const std::string id = accept(records);
  accept(records);
  EXPECT_TRUE(records.give_back(claimed(records)));
  EXPECT_EQ(records.any_job(id)->attempts, 0);
  EXPECT_EQ(claimed(records).job, id) << "it keeps its place";
}

TEST_F(RecordsTest, AJobOutlastsAnyNumberOfFaultsOfTheMachine) {
  constexpr std::chrono::milliseconds kBackoff{400};
  SqliteRecords records(file(), {.longest_backoff = kBackoff, .max_attempts = 2});
  const std::string id = accept(records);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(records.postpone(claimed(records)));
    EXPECT_FALSE(records.claim("w")) << "it waits";
    std::this_thread::sleep_for(kBackoff);
  }
  EXPECT_EQ(records.any_job(id)->attempts, 0);
  EXPECT_EQ(claimed(records).job, id);
}

TEST_F(RecordsTest, AFaultOfTheJobIsNotRepeated) {
  SqliteRecords records(file());
  const std::string id = accept(records);
  EXPECT_TRUE(records.fail_job(claimed(records), kFault));
  EXPECT_EQ(records.any_job(id)->error, kFault);
  EXPECT_FALSE(records.claim("w"));
  EXPECT_THAT(records.dead_letters(), IsEmpty());
}

TEST_F(RecordsTest, AKeyHasOneAnswer) {
  SqliteRecords records(file());
  accept(records);
  const JobRequest first = some_job(), second = some_job(), other = some_job("someone else");
  const IdempotencyKey key{"k", "f"};
  EXPECT_FALSE(records.earlier("", key));
  const auto accepted = records.accept(first, {}, key);
  EXPECT_EQ(accepted.outcome, Acceptance::kAccepted);
  EXPECT_EQ(accepted.position, 2);
  claimed(records);
  const auto repeated = records.accept(second, {some_upload()}, key);
  EXPECT_EQ(repeated.outcome, Acceptance::kRepeated);
  EXPECT_EQ(repeated.id, first.id);
  EXPECT_EQ(repeated.position, 2) << "the first answer, although the queue is shorter now";
  EXPECT_EQ(records.counts().uploads, 0) << "nothing of a repeated request stays";
  EXPECT_FALSE(records.any_job(second.id));
  EXPECT_EQ(records.accept(second, {}, IdempotencyKey{"k", "g"}).outcome,
            Acceptance::kOtherRequest);
  EXPECT_EQ(records.accept(other, {}, key).outcome, Acceptance::kAccepted) << "keys are per caller";
  const Upload upload = some_upload();
  const IdempotencyKey upload_key{"u", "f"};
  EXPECT_EQ(records.add_upload(upload, upload_key).outcome, Acceptance::kAccepted);
  EXPECT_EQ(records.add_upload(some_upload(), upload_key).id, upload.id);
}

TEST_F(RecordsTest, ManyRequestsWithOneKeyMakeOneJob) {
  SqliteRecords records(file());
  std::vector<std::jthread> threads;
  std::array<Acceptance, 8> answers;
  for (Acceptance& answer : answers) {
    threads.emplace_back([&] {
      SqliteRecords own(file());
      answer = own.accept(some_job(), {}, IdempotencyKey{"k", "f"});
    });
  }
  threads.clear();
  int accepted = 0;
  for (const Acceptance& answer : answers) {
    accepted += answer.outcome == Acceptance::kAccepted ? 1 : 0;
    EXPECT_EQ(answer.id, answers[0].id);
  }
  EXPECT_EQ(accepted, 1);
  EXPECT_EQ(records.counts().queued, 1);
}

TEST_F(RecordsTest, TheQueueIsBounded) {
  SqliteRecords records(file(), {.max_waiting = 2});
  accept(records);
  accept(records);
  EXPECT_EQ(records.accept(some_job(), {}, std::nullopt).outcome, Acceptance::kQueueFull);
  claimed(records);
  accept(records);
}

TEST_F(RecordsTest, AnotherCallersJobsAndUploadsDoNotExist) {
  SqliteRecords records(file());
  JobRequest mine = some_job("me");
  const Upload upload = some_upload("me");
  records.add_upload(upload, std::nullopt);
  mine.upload = upload.id;
  const std::string id = accept(records, mine);
  EXPECT_TRUE(records.job("me", id));
  EXPECT_FALSE(records.job("you", id));
  EXPECT_FALSE(records.upload("you", upload.id));
  EXPECT_FALSE(records.remove_job("you", id));
  EXPECT_FALSE(records.remove_upload("you", upload.id));
  EXPECT_THAT(records.list("you", 10, std::nullopt), IsEmpty());
  JobRequest theirs = some_job("you");
  theirs.upload = upload.id;
  const auto refused = records.accept(theirs, {}, std::nullopt);
  EXPECT_EQ(refused.outcome, Acceptance::kNoUpload);
  EXPECT_EQ(refused.missing, upload.id);
}

TEST_F(RecordsTest, ARemovedJobLeavesNothing) {
  SqliteRecords records(file(), {.max_attempts = 1});
  const Upload own = some_upload();
  JobRequest job = some_job();
  job.upload = own.id;
  const IdempotencyKey key{"k", "f"};
  records.accept(job, {own}, key);
  const Lease lease = claimed(records);
  const auto removed = records.remove_job("", job.id);
  ASSERT_TRUE(removed);
  EXPECT_THAT(removed->uploads, ElementsAre(own.id));
  EXPECT_FALSE(records.any_job(job.id));
  EXPECT_FALSE(records.any_upload(own.id));
  EXPECT_FALSE(records.earlier("", key));
  EXPECT_FALSE(records.renew(lease));
  EXPECT_FALSE(records.finish(lease, Json::array()));
  EXPECT_FALSE(records.remove_job("", job.id));
  JobRequest dead = some_job();
  accept(records, dead);
  records.retry(claimed(records), kFault, "secret");
  ASSERT_EQ(records.dead_letters().size(), 1U);
  records.remove_job("", dead.id);
  EXPECT_THAT(records.dead_letters(), IsEmpty());
}

TEST_F(RecordsTest, NothingOfARemovedJobIsLeftOnTheDisk) {
  SqliteRecords records(file());
  JobRequest job = some_job();
  job.options = {{"secret", "eaf3c1b2"}};
  accept(records, job);
  records.set_heard(claimed(records), {{"notes", "eaf3c1b2"}});
  const auto is_on_disk = [&] {
    const std::string log = file().string() + "-wal";
    return (read_file(file()) + read_file(log)).find("eaf3c1b2") != std::string::npos;
  };
  EXPECT_TRUE(is_on_disk());
  records.remove_job("", job.id);
  records.sweep(nobody_is_dead);
  EXPECT_FALSE(is_on_disk());
}

TEST_F(RecordsTest, AnUploadThatAWaitingJobNeedsStaysUntilTheJobEnds) {
  SqliteRecords records(file());
  const Upload upload = some_upload();
  records.add_upload(upload, std::nullopt);
  JobRequest job = some_job();
  job.timbre = upload.id;
  accept(records, job);
  const auto removed = records.remove_upload("", upload.id);
  ASSERT_TRUE(removed);
  EXPECT_THAT(removed->uploads, IsEmpty());
  EXPECT_FALSE(records.upload("", upload.id)) << "hidden at once";
  EXPECT_TRUE(records.any_upload(upload.id)) << "but there for the worker";
  EXPECT_THAT(records.sweep(nobody_is_dead).removed_uploads, IsEmpty());
  records.finish(claimed(records), Json::array());
  EXPECT_THAT(records.sweep(nobody_is_dead).removed_uploads, ElementsAre(upload.id));
}

TEST_F(RecordsTest, ResultsAndUploadsExpire) {
  SqliteRecords records(file(), {.keep_results = std::chrono::milliseconds(0)});
  Upload upload = some_upload();
  upload.expires_ms = now_ms() - 1;
  records.add_upload(upload, std::nullopt);
  EXPECT_FALSE(records.upload("", upload.id));
  const std::string id = accept(records), waiting = accept(records);
  records.finish(claimed(records), Json::array());
  const Swept swept = records.sweep(nobody_is_dead);
  EXPECT_THAT(swept.removed_jobs, ElementsAre(id));
  EXPECT_THAT(swept.removed_uploads, ElementsAre(upload.id));
  EXPECT_TRUE(records.any_job(waiting));
}

TEST_F(RecordsTest, EveryByteOfAJobCountsUntilItIsRemoved) {
  Quota quota;
  SqliteRecords records(file(), {.quota_of = [&](const std::string&) { return quota; }});
  const auto keeps = [&](int64_t bytes) {
    quota.bytes = bytes;
    const bool has_so_many = records.reached_limit("", /*is_job=*/false).has_value();
    quota.bytes = bytes + 1;
    return has_so_many && !records.reached_limit("", /*is_job=*/false);
  };
  Upload upload = some_upload();
  upload.bytes = 5;
  records.add_upload(upload, std::nullopt);
  EXPECT_TRUE(keeps(5));
  const std::string id = accept(records);
  Lease lease = claimed(records);
  records.progress(lease, {"play", 0.2, std::nullopt, 100});
  records.progress(lease, {"play", 0.5, std::nullopt, 200});
  EXPECT_TRUE(keeps(205));
  records.give_back(lease);
  lease = claimed(records);
  records.progress(lease, {"play", 0.1, std::nullopt, 50});
  EXPECT_TRUE(keeps(205)) << "the stream of the first attempt is still there";
  records.progress(lease, {"write", 0, std::nullopt, 300});
  records.finish(lease, Json::array({{{"name", "take-1.wav"}, {"bytes", 1000}}}));
  EXPECT_TRUE(keeps(1305));
  records.add_bytes(id, 400);
  EXPECT_TRUE(keeps(1705));
  records.remove_job("", id);
  EXPECT_TRUE(keeps(5));
  accept(records);
  lease = claimed(records);
  records.progress(lease, {"play", 0.2, std::nullopt, 100});
  EXPECT_TRUE(keeps(105));
  records.fail_job(lease, kFault);
  EXPECT_TRUE(keeps(5)) << "nothing of it can be heard";
}

TEST_F(RecordsTest, AListHasTheNewestFirstInPages) {
  SqliteRecords records(file());
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(accept(records));
  const auto first = records.list("", 2, std::nullopt);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].request.id, ids[4]);
  accept(records);  // does not shift the pages after this one
  const auto second = records.list("", 2, first[1].number);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].request.id, ids[2]);
  EXPECT_EQ(second[1].request.id, ids[1]);
}

TEST_F(RecordsTest, OthersChangesAreNoticed) {
  SqliteRecords records(file()), watched(file());
  EXPECT_FALSE(watched.wait_for_change(std::chrono::milliseconds(30)));
  accept(records);
  EXPECT_TRUE(watched.wait_for_change(std::chrono::milliseconds(0)));
  EXPECT_FALSE(watched.wait_for_change(std::chrono::milliseconds(0)));
}

TEST_F(RecordsTest, ADamagedFileIsReportedWithWhatToDo) {
  accept(*std::make_unique<SqliteRecords>(file()));
  std::string bytes = read_file(file());
  for (size_t i = 100; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  write_file(file(), bytes);
  std::filesystem::remove(file().string() + "-wal");
  try {
    SqliteRecords records(file());
    FAIL() << "opened a damaged file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_THAT(error.message(), HasSubstr("is damaged"));
    EXPECT_THAT(error.hint(), HasSubstr("backup"));
  }
  write_file(file(), "this is not a database, whatever its name says\n");
  EXPECT_THROW(SqliteRecords{file()}, Error);
}

TEST_F(RecordsTest, AFileOfANewerHumIsRefused) {
  accept(*std::make_unique<SqliteRecords>(file()));
  Database(file(), true).run_script("PRAGMA user_version = 99");
  try {
    SqliteRecords records(file());
    FAIL() << "opened tables that it does not know";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kConfig);
  }
}

}  // namespace
}  // namespace hum::serve

#include "serve/jobs/attempt_impl.h"
#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

using AttemptTest = testing::RecordsTest;

TEST_F(AttemptTest, IsNotLostWhenTheHeartBeatsAfterItsEnd) {
  SqliteRecords records(file());
  accept(records);
  StageRates rates;
  Worker::Attempt attempt(records, claimed(records), rates);
  attempt.finish(Json::array());
  ASSERT_FALSE(records.renew(attempt.lease())) << "a job that is done has no lease";
  attempt.lose();
  EXPECT_FALSE(attempt.is_lost());
}

TEST_F(AttemptTest, IsLostIfAnotherWorkerHasTheJob) {
  SqliteRecords records(file(), {.lease = std::chrono::milliseconds(0),
                                 .first_backoff = std::chrono::milliseconds(0)});
  accept(records);
  StageRates rates;
  Worker::Attempt attempt(records, claimed(records), rates);
  ASSERT_EQ(records.sweep(testing::nobody_is_dead).requeued, 1);
  claimed(records, "other");
  attempt.finish(Json::array());
  EXPECT_TRUE(attempt.is_lost());
}

}  // namespace
}  // namespace hum::serve

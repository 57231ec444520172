#include "serve/api/job_events.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

using std::chrono::milliseconds;
using testing::RecordsTest;

// Counts what the events read.
class CountingRecords : public SqliteRecords {
 public:
  using SqliteRecords::SqliteRecords;

  std::optional<Job> any_job(const std::string& id) override {
    ++jobs;
    return SqliteRecords::any_job(id);
  }
  std::map<std::string, JobState> states(const std::vector<std::string>& ids) override {
    ++looks;
    return SqliteRecords::states(ids);
  }

  std::atomic<int> jobs = 0, looks = 0;
};

class JobEventsTest : public RecordsTest {
 protected:
  // Waits until the events have seen everything and are quiet.
  void settle() const {
    for (int before = -1; before != watched_.jobs + watched_.looks;) {
      before = watched_.jobs + watched_.looks;
      std::this_thread::sleep_for(milliseconds(500));
    }
  }
  // A stream with a listener.
  void follow(const std::string& job) {
    streams_.push_back(events_.follow(*records_.any_job(job)));
    listeners_.push_back(streams_.back()->signal().subscribe([] {}));
  }
  // Waits for the newest event of a stream to have this text.
  static bool tells(const EventStream& stream, const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + milliseconds(10'000);
    while (std::chrono::steady_clock::now() < deadline) {
      if (stream.read(0, 1 << 20).frames.find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return false;
  }

  SqliteRecords records_{file()};
  CountingRecords watched_{file()};
  JobEvents events_{
      watched_, [](const Job& job, int64_t position) {
        return Json{{"status", to_name(job.status)}, {"stage", job.stage}, {"position", position}};
      }};
  std::vector<std::shared_ptr<EventStream>> streams_;
  std::vector<Signal::Subscription> listeners_;
};

TEST_F(JobEventsTest, ReadOnlyJobsThatHaveChanged) {
  constexpr int kJobs = 30;
  for (int i = 0; i < kJobs; ++i) follow(accept(records_));
  settle();
  const int idle_jobs = watched_.jobs, idle_looks = watched_.looks;
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_EQ(watched_.jobs.load(), idle_jobs) << "nothing has changed";
  EXPECT_EQ(watched_.looks.load(), idle_looks) << "nothing has changed";
  records_.report_worker({"w", true});
  settle();
  EXPECT_EQ(watched_.jobs.load(), idle_jobs) << "no job has changed";
  EXPECT_LE(watched_.looks.load(), idle_looks + 2);

  const Lease lease = claimed(records_);
  EXPECT_TRUE(tells(*streams_[0], R"("status":"running")"));
  EXPECT_TRUE(tells(*streams_[kJobs - 1], fmt::format("\"position\":{}", kJobs - 1)))
      << "the queue has moved";
  settle();
  const int moved_jobs = watched_.jobs;
  EXPECT_TRUE(records_.progress(lease, {"play", 0.5, std::nullopt}));
  EXPECT_TRUE(tells(*streams_[0], R"("stage":"play")"));
  settle();
  EXPECT_EQ(watched_.jobs.load(), moved_jobs + 1) << "one job has changed";
}

TEST_F(JobEventsTest, TellWhatHappenedBeforeTheStreamBegan) {
  const Job seen = *records_.any_job(accept(records_));
  settle();  // the watcher has seen all changes when the stream begins
  claimed(records_);
  settle();
  EXPECT_TRUE(tells(*events_.follow(seen), R"("status":"running")"));
}

TEST_F(JobEventsTest, SeeTheVersionAndThePlaceOfEachJob) {
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(accept(records_));
  claimed(records_);
  ids.push_back("none");
  const auto states = records_.states(ids);
  ASSERT_EQ(states.size(), 3U);
  for (const auto& [id, state] : states) {
    const auto job = records_.any_job(id);
    ASSERT_TRUE(job);
    EXPECT_EQ(state.version, job->version);
    EXPECT_EQ(state.position, job->status == Status::kQueued ? records_.position(*job) : 0);
  }
}

}  // namespace
}  // namespace hum::serve

// Wrong requests to `hum serve`: it answers each, and nothing stays of them, as of 1,000 jobs.
#include <set>

#include "base/files.h"
#include "tests/serve/fuzz_cases.h"
#include "tests/serve/hostile_sounds.h"
#include "tests/serve/running_service.h"
#include "tests/serve/service.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

constexpr double kMostSeconds = 600;  // the service's default

class FuzzedService : public ServiceTest {
 protected:
  std::string upload_good_sound() const {
    write_file(scratch_.path() / "good.wav", good_sound());
    return upload(scratch_.path() / "good.wav");
  }
  // A job that is done, with notes, and an upload. The sound of the violin is there, too: a worker
  // makes it for the first who asks.
  FuzzIds ids() const {
    const FuzzIds ids{.job = begin({{"upload", upload_good_sound()}, {"task", "notes"}}),
                      .upload = upload_good_sound()};
    EXPECT_EQ(finish(ids.job)["status"], "done");
    const auto has_sound = [&] { return ask("GET", "/v1/presets/violin/sound.wav").status == 200; };
    EXPECT_TRUE(eventually(has_sound));
    return ids;
  }
  // The files of sounds, by their path.
  std::set<std::string> sounds() const {
    std::set<std::string> names;
    std::error_code gone;  // a worker may remove a folder just now
    fs::recursive_directory_iterator at(data_ / "sounds", gone);
    for (; !gone && at != fs::recursive_directory_iterator(); at.increment(gone)) {
      if (at->is_regular_file(gone)) names.insert(at->path().string());
    }
    return names;
  }
};

TEST_F(FuzzedService, AnswersEveryWrongRequestWithAReason) {
  start();
  wait_until_ready();
  const auto cases = fuzz_cases(ids(), kMostSeconds);
  std::set<std::string> names;
  for (const FuzzCase& one : cases) names.insert(one.name);
  EXPECT_EQ(names.size(), cases.size()) << "two cases have the same name";
  EXPECT_GE(names.size(), 500U);
  const auto before = sounds();
  const auto workers = server_->children();
  EXPECT_THAT(send_fuzz_cases(cases, port_), ::testing::IsEmpty());
  EXPECT_EQ(ask("GET", "/health").status, 200);
  EXPECT_EQ(parse_json(ask("GET", "/v1/jobs").body)["jobs"].size(), 1U);
  EXPECT_TRUE(eventually([&] { return sounds() == before; })) << "files are left";
  EXPECT_EQ(server_->children(), workers) << "a worker died, or a decoder is left";
}

TEST_F(FuzzedService, SlowWrongRequestsLeakNothing) {
  constexpr int kRounds = 5;
  start();
  wait_until_ready();
  const auto cases = fuzz_cases(ids(), kMostSeconds);
  const auto send_all = [&] {
    EXPECT_THAT(send_fuzz_cases(cases, port_), ::testing::IsEmpty());
    return static_cast<double>(resident_bytes(server_->pid())) / 1e6;
  };
  send_all();
  const double early_mb = send_all();
  double late_mb = 0;
  for (int i = 2; i < kRounds; ++i) late_mb = send_all();
  EXPECT_LT(late_mb - early_mb, kMostGrowth_mb);
}

TEST(RunningService, SlowAThousandJobsLeakNothing) {
  RunningService service({.program = hum_program(), .environment = hum_environment(true)});
  service.start();
  service.wait_until_ready();
  const MemoryGrowth growth = growth_after(service, 1000);
  EXPECT_LT(growth.server_mb, kMostGrowth_mb);
  EXPECT_LT(growth.worker_mb, kMostGrowth_mb);
}

}  // namespace
}  // namespace hum::serve

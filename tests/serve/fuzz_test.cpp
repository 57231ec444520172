// Wrong requests to `hum serve`, one after another: it answers each, and nothing stays of them.
#include <set>

#include "base/files.h"
#include "tests/serve/fuzz_cases.h"
#include "tests/serve/hostile_sounds.h"
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
  void send_all(const std::vector<FuzzCase>& cases) const {
    for (const FuzzCase& one : cases) {
      const FuzzAnswer answer = send_fuzz_case(one, port_);
      EXPECT_EQ(answer.fault, "") << one.name;
      if (!answer.made.empty()) {
        EXPECT_EQ(ask("DELETE", answer.made).status, 204) << one.name;
      }
    }
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
  send_all(cases);
  EXPECT_EQ(ask("GET", "/health").status, 200);
  EXPECT_EQ(parse_json(ask("GET", "/v1/jobs").body)["jobs"].size(), 1U);
  EXPECT_TRUE(eventually([&] { return sounds() == before; })) << "files are left";
  EXPECT_EQ(server_->children(), workers) << "a worker died, or a decoder is left";
}

// Memory after `count` repetitions, beyond what it was after the first fifth of them.
int64_t growth_after(int count, pid_t process, const std::function<void()>& repeat) {
  int64_t early = 0;
  for (int i = 0; i < count; ++i) {
    repeat();
    if (i == count / 5) early = resident_bytes(process);
  }
  return resident_bytes(process) - early;
}

// 5 MB: what fragments of the heap vary by. A leak of 10 kB in a job would be 8 MB.
constexpr int64_t kMostGrowth_bytes = 5'000'000;

TEST_F(FuzzedService, SlowAThousandJobsLeakNothing) {
  start();
  wait_until_ready();
  const auto workers = server_->children();
  ASSERT_EQ(workers.size(), 1U);
  int64_t server_early = 0;
  const int64_t worker_growth = growth_after(1000, workers[0], [&] {
    const std::string id =
        begin({{"upload", upload_good_sound()}, {"options", {{"preset", "violin"}}}});
    EXPECT_EQ(finish(id)["status"], "done");
    result(id, "take-1.wav");
    EXPECT_EQ(ask("DELETE", "/v1/jobs/" + id).status, 204);
    if (server_early == 0) server_early = resident_bytes(server_->pid());
  });
  EXPECT_LT(worker_growth, kMostGrowth_bytes);
  EXPECT_LT(resident_bytes(server_->pid()) - server_early, 2 * kMostGrowth_bytes);
}

TEST_F(FuzzedService, SlowWrongRequestsLeakNothing) {
  start();
  wait_until_ready();
  const auto cases = fuzz_cases(ids(), kMostSeconds);
  EXPECT_LT(growth_after(5, server_->pid(), [&] { send_all(cases); }), kMostGrowth_bytes);
}

}  // namespace
}  // namespace hum::serve

// Jobs survive the death of workers and server at any moment.
#include <csignal>
#include <thread>

#include "base/files.h"
#include "serve/jobs/worker.h"
#include "tests/serve/service.h"

namespace hum::serve {
namespace {

// Without the language model a job may be over before it is killed.
const Json kOptions = {{"preset", "violin"}, {"lm", true}, {"seed", 3}};

TEST_F(ServiceTest, AJobSurvivesItsWorker) {
  start();
  wait_until_ready();
  const std::string recording = upload(example_recording());
  const std::string undisturbed = begin({{"upload", recording}, {"options", kOptions}});
  ASSERT_EQ(finish(undisturbed)["status"], "done");
  const std::string id = begin({{"upload", recording}, {"options", kOptions}});
  ASSERT_TRUE(wait_for_stage(id, "play"));
  const auto workers = server_->children();
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGKILL);
  const Json done = finish(id);
  EXPECT_EQ(done["status"], "done") << to_text(done);
  EXPECT_EQ(result(id, "take-1.wav"), result(undisturbed, "take-1.wav"));
  EXPECT_EQ(result(id, "stream.wav"), result(undisturbed, "stream.wav"));
}

TEST_F(ServiceTest, JobsSurviveTheServer) {
  start();
  wait_until_ready();
  const std::string recording = upload(example_recording());
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(begin({{"upload", recording}, {"options", kOptions}}));
  }
  ASSERT_TRUE(wait_for_stage(ids[0], "play"));
  const auto workers = server_->children();
  server_->signal(SIGKILL);
  EXPECT_EQ(server_->wait(), 128 + SIGKILL);
  for (const pid_t worker : workers) {
    EXPECT_TRUE(eventually([&] { return !is_running(worker); })) << "a worker outlived it";
  }
  start();
  for (const std::string& id : ids) {
    const Json done = finish(id);
    EXPECT_EQ(done["status"], "done") << to_text(done);
    EXPECT_EQ(result(id, "take-1.wav"), result(ids[0], "take-1.wav"));
  }
  EXPECT_EQ(parse_json(ask("GET", "/v1/jobs").body)["jobs"].size(), 3U);
}

TEST_F(ServiceTest, ATermSignalDrains) {
  start();
  wait_until_ready();
  const std::string recording = upload(example_recording());
  const std::string running = begin({{"upload", recording}, {"options", kOptions}});
  ASSERT_TRUE(wait_for_stage(running, "play"));
  std::string waiting;
  for (int i = 0; i < 8; ++i) waiting = begin({{"upload", recording}, {"options", kOptions}});
  const auto asked = std::chrono::steady_clock::now();
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait(), 0) << read_file(log());
  const bool cut_short = std::chrono::steady_clock::now() - asked >= WorkerOptions{}.drain;
  start(0);
  // A drain ends after a while, which is too short for the job on a busy machine or with a
  // sanitizer. What it had put aside then goes later, as after a kill.
  if (!cut_short) {
    EXPECT_EQ(job(running)["status"], "done") << "it was nearly done";
    EXPECT_TRUE(std::filesystem::is_empty(data_ / "sounds/aside"));
  }
  EXPECT_EQ(job(waiting)["status"], "queued") << "and this one had not begun";
}

TEST_F(ServiceTest, AWorkerThatCannotStartIsTriedAgainWithoutAStorm) {
  // Weights without models: each worker ends at once.
  const auto weights = scratch_.path() / "weights";
  std::filesystem::create_directories(weights / "upsampler");
  server_ = run_hum({"serve", "--listen", "127.0.0.1:0", "--data", data_.string(), "--weights",
                     weights.string(), "--json"},
                    log());
  port_ = parse_json(server_->first_line())["port"];
  const auto deaths = [&] {
    size_t count = 0;
    const std::string text = read_file(log());
    for (size_t at = text.find("worker process"); at != std::string::npos;
         at = text.find("worker process", at + 1)) {
      ++count;
    }
    return count;
  };
  ASSERT_TRUE(eventually([&] { return deaths() > 0; })) << read_file(log());
  std::this_thread::sleep_for(std::chrono::seconds(4));
  EXPECT_EQ(ask("GET", "/health").status, 200);
  EXPECT_EQ(ask("GET", "/ready").status, 503);
  EXPECT_LT(deaths(), 8U) << read_file(log());
}

}  // namespace
}  // namespace hum::serve

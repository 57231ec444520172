// One job of `hum client` against a server that does it, stays away, or lies.
#include "serve/client/remote_job.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/testing/refusal.h"
#include "serve/http/test_client.h"

namespace hum::serve {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

const auto kIgnore = [](const Json&) {};

// A server that accepts every job and calls it done, with these results, or as it is told.
class RemoteJobTest : public testing::ServerTest {
 protected:
  void start_server(const Json& results) {
    start_with({{"id", "7"}, {"status", "done"}, {"results", results}});
  }
  void start_with(const Json& job) {
    const RouteLimits form{.form_bytes = 1 << 20};
    router.add(
        "POST", "/v1/jobs",
        [](Request&) {
          return json_response(202, {{"id", "7"}});
        },
        form);
    router.add("GET", "/v1/jobs/7", [job](Request&) { return json_response(200, job); });
    router.add("GET", "/v1/jobs/7/results/{name}",
               [](Request& request) { return Response{.body = request.parameter("name")}; });
    start();
    write_file(files / "hum.wav", "a sound");
  }
  ClientOptions options(const std::string& output) const {
    ClientOptions options;
    options.recording = files / "hum.wav";
    options.job.preset = "violin";
    options.server.url = server->url();
    options.output = output;
    return options;
  }
  static void expect_refused(ExitCode code, const std::string& text, const ClientOptions& options,
                             const std::function<void(const Json&)>& changed = kIgnore) {
    const auto run = [&] { run_remote_job(options, changed); };
    EXPECT_EQ(hum::testing::code_of(run), code);
    EXPECT_THAT(hum::testing::message_of(run), HasSubstr(text));
  }
};

TEST_F(RemoteJobTest, WritesOneResultOrAll) {
  start_server({{{"name", "take-1.wav"}}, {{"name", "melody.mid"}}});
  const auto expect_file = [&](const std::string& output, const std::string& content) {
    const Json job = run_remote_job(options(files / output), kIgnore);
    EXPECT_EQ(job["files"], Json::array({files / output}));
    EXPECT_EQ(read_file(files / output), content);
  };
  expect_file("out.wav", "take-1.wav");
  expect_file("out.MID", "melody.mid");
  expect_file("out.csv", "melody.csv");
  expect_file("out.zip", "all.zip");
  run_remote_job(options(files / "all"), kIgnore);
  EXPECT_EQ(read_file(files / "all/take-1.wav"), "take-1.wav");
  EXPECT_EQ(read_file(files / "all/melody.mid"), "melody.mid");
}

TEST_F(RemoteJobTest, AServerThatStaysAwayKeepsTheJob) {
  start_with({{"id", "7"}, {"status", "running"}, {"stage", "play"}});
  ClientOptions wanted = options(files / "out.wav");
  wanted.patience = {.longest = milliseconds(300), .first_pause = milliseconds(1)};
  std::set<std::string> lost;
  const std::string message = hum::testing::message_of([&] {
    run_remote_job(wanted, [&](const Json& state) {
      if (state["status"] == "running") server.reset();
      if (state["status"] == "lost") lost.insert(state["id"].get<std::string>());
    });
  });
  EXPECT_THAT(message, HasSubstr("does not answer"));
  EXPECT_THAT(message, HasSubstr("keeps job 7"));
  EXPECT_THAT(message, HasSubstr(wanted.server.url + "/v1/jobs/7/results/all.zip"));
  EXPECT_EQ(lost, std::set<std::string>{"7"});
}

// Sends stdout to a full disk while it exists.
class FullStdout {
 public:
  FullStdout() : kept_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, STDOUT_FILENO);
    close(full);
  }
  ~FullStdout() {
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }
  FullStdout(const FullStdout&) = delete;
  FullStdout& operator=(const FullStdout&) = delete;

 private:
  int kept_;
};

TEST_F(RemoteJobTest, SaysHowToRemoveAJobThatTheServerKeeps) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  // What is logged when stdout takes no more of the stream, and the removal gets this status.
  const auto log_after = [this](int status) {
    router = Router();
    router.add("DELETE", "/v1/jobs/7", [status](Request&) {
      return status == 204 ? Response{.status = 204} : problem(status, "no");
    });
    const Json job = {{"id", "7"}, {"status", "running"}, {"stage", "play"}};
    start_with(job);
    write_file(files / "my own.pem", "");
    ClientOptions wanted = options("");
    wanted.stream = true;
    wanted.server.key = "secret";
    wanted.server.ca = files / "my own.pem";
    std::ostringstream log;
    const auto before = spdlog::default_logger();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
    {
      const FullStdout full;
      EXPECT_EQ(hum::testing::code_of([&] { run_remote_job(wanted, kIgnore); }),
                ExitCode::kCannotCreate);
    }
    spdlog::set_default_logger(before);
    return log.str();
  };
  const std::string log = log_after(403);
  EXPECT_THAT(log, HasSubstr("answers HTTP 403 and keeps job 7"));
  EXPECT_THAT(log, HasSubstr(fmt::format("curl -X DELETE -H \"Authorization: Bearer $HUM_KEY\" "
                                         "--cacert '{}' {}/v1/jobs/7",
                                         files / "my own.pem", server->url())));
  EXPECT_EQ(log_after(404), "");
  EXPECT_EQ(log_after(204), "");
}

TEST_F(RemoteJobTest, LetsNoServerChooseAPlace) {
  for (const char* name : {"../evil", "/tmp/evil", ".profile", "a/b", ""}) {
    router = Router();
    start_server({{{"name", name}}});
    expect_refused(ExitCode::kBadData, "not a plain name", options(files / "all"));
    EXPECT_FALSE(std::filesystem::exists(files / "all"));
  }
}

TEST_F(RemoteJobTest, SaysThatAnAnswerIsNoneOfAHumServe) {
  const Json answers[] = {{{"id", "7"}},
                          {{"id", "7"}, {"status", 3}},
                          {{"id", "7"}, {"status", "done"}},
                          {{"id", "7"}, {"status", "done"}, {"results", "all.zip"}},
                          {{"id", "7"}, {"status", "done"}, {"results", {"all.zip"}}},
                          {{"id", "7"}, {"status", "done"}, {"results", {{{"name", 7}}}}}};
  for (const Json& answer : answers) {
    for (const char* output : {"all", "out.wav"}) {
      router = Router();
      start_with(answer);
      const auto run = [&] { run_remote_job(options(files / output), kIgnore); };
      EXPECT_EQ(hum::testing::code_of(run), ExitCode::kBadData) << answer;
      EXPECT_FALSE(std::filesystem::exists(files / output)) << answer;
    }
  }
  router = Router();
  start_with({{"id", "7"}, {"status", "done"}});
  expect_refused(ExitCode::kBadData, "does not answer as a hum serve does",
                 options(files / "out.wav"));
}

TEST_F(RemoteJobTest, WritesTheMidiFileOfAnArrangement) {
  start_server({{{"name", "mix.wav"}}, {{"name", "arrangement.mid"}}});
  ClientOptions arrange = options(files / "band.mid");
  arrange.task = Task::kArrange;
  run_remote_job(arrange, kIgnore);
  EXPECT_EQ(read_file(files / "band.mid"), "arrangement.mid");
}

TEST_F(RemoteJobTest, ChecksTheOptionsBeforeItSendsAnything) {
  start_server(Json::array());
  const auto expect = [&](const ClientOptions& wrong, const std::string& text) {
    expect_refused(ExitCode::kUsage, text, wrong,
                   [](const Json&) { ADD_FAILURE() << "it was sent"; });
  };
  ClientOptions wrong = options(files / "out.wav");
  wrong.job.preset = "voilin";
  expect(wrong, "voilin");
  wrong.job.preset = "";
  expect(wrong, "neither --preset nor --timbre");
  wrong.job.preset = "violin";
  wrong.job.takes = 2;
  expect(wrong, "2 takes do not fit into one file");
  wrong.job.takes = 9;
  wrong.output = files / "all";
  expect(wrong, "takes 9 is outside 1..8");
  wrong = options(files / "out.wav");
  wrong.task = Task::kNotes;
  expect(wrong, "makes no sound");
  wrong.task = Task::kArrange;
  wrong.stream = true;
  expect(wrong, "only the task generate has a stream");
  expect(options("-"), "--stream");
  wrong = options(files / "band.csv");
  wrong.task = Task::kArrange;
  expect(wrong, "no such file of notes");
  wrong = options(files / "out.wav");
  wrong.task = Task::kSeparate;
  wrong.job.preset = "";
  expect(wrong, "do not fit into one file");
  wrong.output = files / "stems";
  wrong.job.stems = "vocal";
  expect(wrong, "'vocals'");
}

}  // namespace
}  // namespace hum::serve

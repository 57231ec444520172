// `hum client` against a `hum serve`, both as processes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "audio/io.h"
#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "tests/serve/service.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

class ClientProgram : public ServiceTest {
 protected:
  // Starts `hum client RECORDING --server ...` with these flags. Its stderr goes to client_log().
  std::unique_ptr<Process> begin_client(std::vector<std::string> flags,
                                        const fs::path& recording = example_recording()) {
    fs::remove(client_log());
    flags.insert(flags.begin(), {"client", recording.string()});
    flags.insert(flags.end(), {"--server", fmt::format("http://127.0.0.1:{}", port_)});
    return run_hum(flags, client_log());
  }
  fs::path client_log() const { return scratch_.path() / "client.log"; }
  std::string path(const std::string& name) const { return scratch_ / name; }
};

TEST_F(ClientProgram, WritesWhatHumGenerateWrites) {
  start();
  const auto client =
      begin_client({"--preset", "violin", "--seed", "7", "-o", path("violin.wav"), "--json"});
  const Json job = parse_json(client->first_line());
  ASSERT_EQ(client->wait(), 0) << read_file(client_log());
  EXPECT_EQ(job["status"], "done");
  EXPECT_EQ(job["files"], Json::array({path("violin.wav")}));
  EXPECT_GT(job["notes"]["notes"].size(), 10U);
  EXPECT_TRUE(read_file(path("violin.wav")) == generated({"--preset", "violin", "--seed", "7"}));
  const std::string progress = read_file(client_log());
  // The job may begin and end between two looks of the client, which tells no stage then.
  for (const char* status : {"sending", "done"}) EXPECT_THAT(progress, HasSubstr(status));
}

TEST_F(ClientProgram, StreamsToStdoutAndFillsAFolder) {
  start();
  const auto client = begin_client({"--preset", "flute", "--stream", "-o", path("all")});
  const std::string stream = client->rest();
  ASSERT_EQ(client->wait(), 0) << read_file(client_log());
  const std::string id = parse_json(ask("GET", "/v1/jobs").body)["jobs"][0]["id"];
  EXPECT_TRUE(stream == result(id, "stream.wav"));
  EXPECT_TRUE(read_file(path("all/take-1.wav")) == result(id, "take-1.wav"));
  EXPECT_EQ(read_file(path("all/melody.mid")).substr(0, 4), "MThd");
  EXPECT_THAT(read_file(client_log()), HasSubstr("take-1.wav"));
}

TEST_F(ClientProgram, TellsWhyAJobFailed) {
  start();
  const fs::path silent = path("silent.wav");
  audio::write_audio(silent, audio::from_mono(std::vector<float>(44100), 22050));
  EXPECT_EQ(begin_client({"--preset", "violin", "-o", path("out.wav")}, silent)->wait(), 65);
  EXPECT_THAT(read_file(client_log()), HasSubstr("hum: error: the recording is silent"));
  EXPECT_FALSE(fs::exists(path("out.wav")));
  EXPECT_EQ(begin_client({"--preset", "violin", "-o", path("out.wav")}, path("none.wav"))->wait(),
            66);
  server_->signal(SIGTERM);
  server_->wait();
  EXPECT_EQ(begin_client({"--preset", "violin", "-o", path("out.wav")})->wait(), 69);
  EXPECT_THAT(read_file(client_log()), HasSubstr("hint: start it with 'hum serve'"));
}

TEST_F(ClientProgram, CtrlCRemovesTheJob) {
  start(0);  // the job waits forever
  const auto client = begin_client({"--preset", "violin", "-o", path("out.wav")});
  const auto jobs = [&] { return parse_json(ask("GET", "/v1/jobs").body)["jobs"].size(); };
  ASSERT_TRUE(eventually([&] { return jobs() == 1; })) << read_file(client_log());
  // It says so when it knows which job to remove.
  const auto waits = [&] { return read_file(client_log()).find("waiting") != std::string::npos; };
  ASSERT_TRUE(eventually(waits)) << read_file(client_log());
  client->signal(SIGINT);
  EXPECT_EQ(client->wait(), 130) << read_file(client_log());
  EXPECT_EQ(jobs(), 0U);
  EXPECT_FALSE(fs::exists(path("out.wav")));
}

TEST_F(ClientProgram, AStreamThatNobodyReadsRemovesTheJob) {
  start();
  const fs::path out = path("pipe");
  ASSERT_EQ(::mkfifo(out.c_str(), 0600), 0);
  const int reader = ::open(out.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto client =
      run_hum({"client", example_recording(), "--server", fmt::format("http://127.0.0.1:{}", port_),
               "--preset", "violin", "--lm", "--takes", "8", "--stream"},
              client_log(), out);
  std::array<char, 1000> bytes{};
  EXPECT_TRUE(eventually([&] { return ::read(reader, bytes.data(), bytes.size()) > 0; }))
      << read_file(client_log());
  ::close(reader);
  EXPECT_EQ(client->wait(), 73) << read_file(client_log());
  EXPECT_EQ(parse_json(ask("GET", "/v1/jobs").body)["jobs"].size(), 0U);
}

TEST_F(ClientProgram, ThePythonExampleTellsWhatIsWrong) {
  start(0);
  write_file(path("text.wav"), "no sound");
  Process python({"/usr/bin/python3", source_folder() / "examples/client.py", path("text.wav"),
                  path("violin.wav"), fmt::format("http://127.0.0.1:{}", port_)},
                 {.err = client_log()});
  EXPECT_EQ(python.wait(), 1);
  EXPECT_THAT(read_file(client_log()), HasSubstr("hint: "));
  EXPECT_THAT(read_file(client_log()), ::testing::Not(HasSubstr("Traceback")));
}

TEST_F(ClientProgram, ThePythonExampleWorks) {
  start();
  Process python({"/usr/bin/python3", source_folder() / "examples/client.py", example_recording(),
                  path("violin.wav"), fmt::format("http://127.0.0.1:{}", port_)},
                 {.err = client_log()});
  EXPECT_EQ(python.wait(), 0) << read_file(client_log());
  EXPECT_TRUE(read_file(path("violin.wav")) == generated({"--preset", "violin"}));
}

TEST_F(ClientProgram, OutlivesARestartOfTheServer) {
  start();
  wait_until_ready();
  const auto client =
      begin_client({"--preset", "violin", "--lm", "--takes", "4", "-o", path("all")});
  const auto is_playing = [&] {
    const Json jobs = parse_json(ask("GET", "/v1/jobs").body)["jobs"];
    return jobs.size() == 1 && jobs[0]["stage"] == "play";
  };
  ASSERT_TRUE(eventually(is_playing)) << read_file(client_log());
  server_->signal(SIGKILL);
  server_->wait();
  start(1, port_);
  EXPECT_EQ(client->wait(), 0) << read_file(client_log());
  EXPECT_TRUE(fs::exists(path("all/take-4.wav")));
  EXPECT_EQ(parse_json(ask("GET", "/v1/jobs").body)["jobs"].size(), 1U);
  // The client looks at least once a second; four takes play for longer, but for tiny models.
  if (!kHasSanitizer) {
    EXPECT_THAT(read_file(client_log()), HasSubstr("play "));
  }
}

}  // namespace
}  // namespace hum::serve

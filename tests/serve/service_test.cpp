// From an upload to a sound, with the released weights (run_hum() says when not).
#include "tests/serve/service.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "audio/io.h"
#include "base/files.h"
#include "base/folders.h"
#include "serve/access/gate.h"
#include "serve/storage/data_folder.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

// The samples after the header of a stream, which does not know its length.
std::string samples_of(const std::string& wav) { return wav.substr(44); }

TEST_F(ServiceTest, AHumBecomesAViolinAsHumGenerateMakesIt) {
  start();
  wait_until_ready();
  const std::string recording = upload(example_recording());
  const std::string id =
      begin({{"upload", recording}, {"options", {{"preset", "violin"}, {"seed", 7}}}});
  wait_for_stage(id, "play");
  // The stream is read while it is made, and its beginning is there before the result.
  testing::TestClient client(port_);
  client.send("GET /v1/jobs/" + id + "/results/stream.wav HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto streamed = client.read_answer();
  EXPECT_EQ(streamed.status, 200);
  EXPECT_TRUE(streamed.whole);
  const Json done = finish(id);
  ASSERT_EQ(done["status"], "done") << to_text(done);
  EXPECT_GT(done["notes"]["notes"].size(), 10U);
  EXPECT_EQ(done["notes"]["heard_by"], "ear");
  EXPECT_EQ(done["progress"], 1);
  EXPECT_EQ(done["results"][0]["name"], "take-1.wav");
  const std::string wav = result(id, "take-1.wav");
  EXPECT_EQ(done["results"][0]["bytes"], wav.size());
  EXPECT_EQ(wav, generated({"--preset", "violin", "--seed", "7"}));
  EXPECT_EQ(streamed.body.substr(0, 4), "RIFF");
  EXPECT_EQ(samples_of(streamed.body).size(), samples_of(wav).size());
  EXPECT_EQ(result(id, "stream.wav"), streamed.body);
  EXPECT_EQ(result(id, "melody.mid").substr(0, 4), "MThd");
}

TEST_F(ServiceTest, NotesAreFoundCorrectedAndPlayed) {
  start();
  wait_until_ready();
  const std::string recording = upload(example_recording());
  const Json heard = finish(begin({{"upload", recording}, {"task", "notes"}}));
  ASSERT_EQ(heard["status"], "done") << to_text(heard);
  Json notes = heard["notes"]["notes"];
  ASSERT_GT(notes.size(), 3U);
  notes.erase(3);
  notes[0]["pitch"] = notes[0]["pitch"].get<int>() + 2;
  const std::string played = begin(
      {{"upload", recording}, {"notes", notes}, {"options", {{"preset", "flute"}, {"octave", 0}}}});
  const Json done = finish(played);
  ASSERT_EQ(done["status"], "done") << to_text(done);
  EXPECT_EQ(done["notes"]["heard_by"], "given");
  ASSERT_EQ(done["notes"]["notes"].size(), notes.size());
  EXPECT_EQ(done["notes"]["notes"][0]["pitch"], notes[0]["pitch"]);
  EXPECT_EQ(result(played, "take-1.flac").substr(0, 4), "fLaC");
}

TEST_F(ServiceTest, ABandPlaysAlong) {
  start();
  wait_until_ready();
  const Json done = finish(begin({{"upload", upload(example_recording())},
                                  {"task", "arrange"},
                                  {"options", {{"preset", "flute"}, {"tempo", 100}}}}));
  ASSERT_EQ(done["status"], "done") << to_text(done);
  EXPECT_EQ(done["results"].size(), 6U);
  EXPECT_EQ(done["results"][0]["name"], "mix.wav");
}

TEST_F(ServiceTest, ARecordingWithoutAMelodyFailsWithTheReason) {
  start();
  wait_until_ready();
  audio::AudioBuffer noise{22050, 1, {}};
  for (uint32_t i = 0, x = 1; i < 44100; ++i) {
    x = 1664525 * x + 1013904223;
    noise.samples.push_back(static_cast<float>(x >> 8) / (1 << 24) - 0.5F);
  }
  const fs::path path = scratch_.path() / "noise.wav";
  audio::write_audio(path, noise);
  const Json failed =
      finish(begin({{"upload", upload(path)}, {"options", {{"preset", "violin"}}}}));
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_THAT(failed["error"]["detail"].get<std::string>(), HasSubstr("no melody"));
  EXPECT_FALSE(failed["error"]["hint"].get<std::string>().empty());
}

TEST_F(ServiceTest, ARemovedJobStopsAndLeavesNothing) {
  start();
  wait_until_ready();
  const std::string recording = upload(example_recording());
  const std::string id = begin(
      {{"upload", recording}, {"options", {{"preset", "violin"}, {"lm", true}, {"takes", 8}}}});
  wait_for_stage(id, "play");
  EXPECT_EQ(ask("DELETE", "/v1/jobs/" + id).status, 204);
  EXPECT_EQ(ask("GET", "/v1/jobs/" + id).status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/uploads/" + recording).status, 204);
  const auto is_gone = [&] {
    for (const auto& entry : fs::recursive_directory_iterator(data_ / "sounds")) {
      if (entry.is_regular_file()) return false;
    }
    return true;
  };
  EXPECT_TRUE(eventually(is_gone));
  // The worker is free again.
  EXPECT_EQ(finish(begin({{"upload", upload(example_recording())}, {"task", "notes"}}))["status"],
            "done");
  EXPECT_TRUE(fs::is_empty(data_ / "sounds/jobs") || !fs::exists(data_ / "sounds/jobs" / id));
}

TEST_F(ServiceTest, TheQuotaCountsEveryByteOfAJobOnTheDisk) {
  start();
  wait_until_ready();
  const Json notes = Json::array({{{"start", 0}, {"end", 1}, {"pitch", 60}}});
  const std::string id = begin({{"notes", notes}, {"options", {{"preset", "violin"}}}});
  ASSERT_EQ(finish(id)["status"], "done");
  for (const char* made : {"take-1.flac", "all.zip"}) result(id, made);
  Quota quota;
  for (const auto& entry : fs::directory_iterator(data_ / "sounds/jobs" / id)) {
    quota.bytes += static_cast<int64_t>(entry.file_size());
  }
  SqliteRecords records(records_file(data_),
                        {.quota_of = [&](const std::string&) { return quota; }});
  EXPECT_TRUE(records.reached_limit(kLocalCaller, /*is_job=*/false));
  ++quota.bytes;
  EXPECT_FALSE(records.reached_limit(kLocalCaller, /*is_job=*/false));
}

TEST_F(ServiceTest, AWorkerJoinsFromElsewhere) {
  start(0);
  EXPECT_EQ(ask("GET", "/ready").status, 503);
  const std::string id = begin({{"upload", upload(example_recording())}, {"task", "notes"}});
  EXPECT_EQ(job(id)["status"], "queued");
  const auto worker = run_hum({"worker", "--data", data_.string()}, log());
  EXPECT_EQ(finish(id)["status"], "done");
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait(), 0);
}

TEST_F(ServiceTest, AWorkerJoinsOnlyAServersFolder) {
  const fs::path typo = scratch_.path() / "dta";
  EXPECT_EQ(run_hum({"worker", "--data", typo.string()}, log())->wait(), 2);
  EXPECT_THAT(read_file(log()), HasSubstr("it has no records.sqlite"));
  EXPECT_THAT(read_file(log()), HasSubstr("start hum serve --data " + typo.string() + " first"));
  EXPECT_FALSE(fs::exists(typo));
}

// A pipe that is full and that nobody reads.
class StoppedPipe {
 public:
  explicit StoppedPipe(const fs::path& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    reader_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    writer_ = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    while (::write(writer_, "x", 1) == 1) {
    }
  }
  ~StoppedPipe() {
    ::close(writer_);
    ::close(reader_);
  }
  StoppedPipe(const StoppedPipe&) = delete;
  StoppedPipe& operator=(const StoppedPipe&) = delete;

 private:
  int reader_, writer_;
};

TEST_F(ServiceTest, AFullLogStopsNobody) {
  const StoppedPipe pipe(log());
  start(1);
  const Json notes = Json::array({{{"start", 0}, {"end", 1}, {"pitch", 60}}});
  const std::string id = begin({{"task", "notes"}, {"notes", notes}});
  EXPECT_TRUE(eventually([&] { return job(id)["status"] == "done"; })) << "the worker waits";
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait(), 0);
}

TEST_F(ServiceTest, AFullStdoutStopsNobody) {
  start(0);  // finds a free port
  server_.reset();
  const fs::path out = scratch_.path() / "stdout";
  const StoppedPipe pipe(out);
  server_ = run_hum({"serve", "--listen", fmt::format("127.0.0.1:{}", port_), "--data",
                     data_.string(), "--workers", "0"},
                    log(), out);
  EXPECT_TRUE(eventually([&] { return ask("GET", "/health").status == 200; })) << read_file(log());
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait(), 0);
}

TEST_F(ServiceTest, TheIdleServerIsSmallAndDoesNotLoadThePlugin) {
  const auto begin_time = std::chrono::steady_clock::now();
  start(0);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_time;
  EXPECT_LT(seconds.count(), 5) << "bar serve-idle measures it";
  const std::string folder = fmt::format("/proc/{}/", server_->pid());
  std::ifstream maps(folder + "maps");
  const std::string mapped{std::istreambuf_iterator<char>(maps), {}};
  EXPECT_THAT(mapped, ::testing::Not(HasSubstr("pjrt")));
  if (!kHasSanitizer) {
    EXPECT_LT(resident_bytes(server_->pid()), 60'000'000);
  }
}

TEST_F(ServiceTest, StartsOnlyWhereItShould) {
  const auto run = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"serve", "--workers", "0"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    fs::remove(log());
    return run_hum(arguments, log())->wait();
  };
  const std::string data = data_.string();
  EXPECT_EQ(run({"--data", data, "--listen", "0.0.0.0:0"}), 2);
  EXPECT_THAT(read_file(log()), HasSubstr("--insecure"));
  EXPECT_EQ(run({"--data", data, "--listen", "here"}), 2);
  EXPECT_EQ(run({"--data", data, "--listen", "127.0.0.1:70000"}), 2);
  start(0);
  EXPECT_EQ(run({"--data", data, "--listen", "127.0.0.1:0"}), 75) << "the folder has a server";
  EXPECT_THAT(read_file(log()), HasSubstr(fmt::format("{}: another hum serve uses this folder "
                                                      "(process {})",
                                                      data, server_->pid())));
  const fs::path other = scratch_.path() / "other";
  const std::string taken = fmt::format("127.0.0.1:{}", port_);
  EXPECT_EQ(run({"--data", other.string(), "--listen", taken}), 69) << "the port is taken";
  EXPECT_EQ(run({"--data", other.string(), "--listen", "127.0.0.1:0", "--metrics", taken}), 69);
  EXPECT_FALSE(fs::exists(other)) << "a start that failed at its port has created a folder";
  EXPECT_EQ(
      run_hum({"serve", "--data", other.string(), "--listen", "127.0.0.1:0"}, log(), "/dev/full")
          ->wait(),
      73)
      << "nobody would know where it listens";
  EXPECT_THAT(read_file(log()), HasSubstr("cannot be written to stdout: No space left"));
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait(), 0);
  write_file(data_ / "records.sqlite", "not a database, however often it is read\n");
  EXPECT_EQ(run({"--data", data, "--listen", "127.0.0.1:0"}), 65);
  EXPECT_THAT(read_file(log()), HasSubstr("is damaged"));
}

class MeteredService : public ServiceTest {
 protected:
  // Starts the server with its metrics on another port, and one worker if wanted.
  void start_metered(int workers = 0) {
    server_ = run_hum({"serve", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--data",
                       data_.string(), "--workers", std::to_string(workers), "--json"},
                      log());
    const Json line = parse_json(server_->first_line());
    port_ = line["port"];
    const std::string url = line["metrics"];
    metrics_port_ = std::stoi(url.substr(url.rfind(':') + 1));
  }
  // When the request is counted.
  std::string metrics_after_health() {
    EXPECT_EQ(ask("GET", "/health").status, 200);
    testing::Answer metrics;
    const auto is_counted = [&] {
      metrics = testing::TestClient(metrics_port_).ask("GET", "/metrics");
      return metrics.body.find("route=\"/health\",status=\"200\"} 1") != std::string::npos;
    };
    EXPECT_TRUE(eventually(is_counted)) << metrics.body;
    return metrics.body;
  }

 private:
  int metrics_port_ = 0;
};

TEST_F(MeteredService, CountsRequestsOnAnotherPort) {
  start_metered();
  EXPECT_EQ(ask("GET", "/metrics").status, 404);
  EXPECT_THAT(metrics_after_health(), HasSubstr("status=\"404\"} 1"));
}

// Names of files, notes, bytes that were sent.
TEST_F(MeteredService, LogsAndMetricsTellNothingOfTheSound) {
  ::setenv("HUM_LOG", "debug", 1);
  start_metered(1);
  ::unsetenv("HUM_LOG");
  wait_until_ready();
  const std::string form = "Content-Type: multipart/form-data; boundary=x\r\n";
  const auto send = [&](const std::string& sound) {
    return ask("POST", "/v1/jobs", form,
               "--x\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n"
               "{\"preset\": \"violin\"}\r\n"
               "--x\r\nContent-Disposition: form-data; name=\"audio\"; "
               "filename=\"secret-tune.wav\"\r\n\r\n" +
                   sound + "\r\n--x--\r\n");
  };
  EXPECT_EQ(send("no sound").status, 422);
  const auto accepted = send(read_file(example_recording()));
  ASSERT_EQ(accepted.status, 202) << accepted.body;
  EXPECT_EQ(finish(parse_json(accepted.body)["id"])["status"], "done");
  const std::string told = read_file(log()) + metrics_after_health();
  EXPECT_THAT(told, HasSubstr("done")) << "the log tells of the job";
  for (const char* secret : {"secret", "\"pitch\"", "no sound"}) {
    EXPECT_THAT(told, ::testing::Not(HasSubstr(secret)));
  }
}

TEST_F(MeteredService, PromtoolAcceptsTheMetrics) {
  const std::string path = "PATH=" + (source_folder() / "build/api/bin").string() + ":$PATH; ";
  if (std::system((path + "command -v promtool > /dev/null").c_str()) != 0) {
    GTEST_SKIP() << "promtool is missing; `make api` installs it";
  }
  start_metered();
  const std::string text = metrics_after_health();
  write_file(scratch_.path() / "metrics", text);
  const std::string line = path + "promtool check metrics < " + (scratch_ / "metrics") + " > " +
                           (scratch_ / "promtool") + " 2>&1";
  EXPECT_EQ(std::system(line.c_str()), 0) << read_file(scratch_ / "promtool") << text;
}

TEST_F(ServiceTest, APageIsThere) {
  start(0);
  const auto page = ask("GET", "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.headers.at("content-type"), HasSubstr("text/html"));
  EXPECT_EQ(ask("GET", "/", "If-None-Match: " + page.headers.at("etag") + "\r\n").status, 304);
}

}  // namespace
}  // namespace hum::serve

// For tests of the API: a real server with real decoding; the test plays the worker's part.
#pragma once

#include <gmock/gmock.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "decode/testing_entry.h"
#include "serve/api/api.h"
#include "serve/api/api_impl.h"
#include "serve/http/test_client.h"
#include "serve/storage/test_jobs.h"

namespace hum::serve::testing {

inline constexpr const char* kJson = "Content-Type: application/json\r\n";
inline constexpr const char* kNotes = R"([{"start": 0, "end": 1, "pitch": 60}])";

// The bytes of a wav.
inline std::string wav_of(const audio::AudioBuffer& sound) {
  const ScratchFolder folder;
  audio::write_audio(folder / "sound.wav", sound);
  return read_file(folder / "sound.wav");
}

// A wav of a tone.
inline std::string tone(double seconds, int rate_hz = 22050) {
  std::vector<float> samples(static_cast<size_t>(seconds * rate_hz));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(0.3 * std::sin(0.06 * static_cast<double>(i)));
  }
  return wav_of(audio::from_mono(samples, rate_hz));
}

// A multipart form; a name with '@' before it is a file.
struct Form {
  std::string body;

  Form& add(const std::string& name, const std::string& content) {
    const bool is_file = name.starts_with('@');
    body += "--x\r\nContent-Disposition: form-data; name=\"" + name.substr(is_file ? 1 : 0) + "\"";
    if (is_file) body += "; filename=\"../../evil name.wav\"\r\nContent-Type: audio/wav";
    body += "\r\n\r\n" + content + "\r\n";
    return *this;
  }
  std::string whole() const { return body + "--x--\r\n"; }
};
inline constexpr const char* kForm = "Content-Type: multipart/form-data; boundary=x\r\n";

class ApiTest : public RecordsTest {
 protected:
  ApiTest() {
    Router router;
    api_.add_routes(router);
    ServerOptions options;
    options.spool_folder = store_.aside();
    server_ = std::make_unique<HttpServer>(options, std::move(router));
  }

  Answer ask(const std::string& method, const std::string& target, const std::string& headers = "",
             const std::string& body = "") const {
    return TestClient(server_->port()).ask(method, target, headers, body);
  }
  Json get(const std::string& target) const {
    const Answer answer = ask("GET", target);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return parse_json(answer.body);
  }
  Answer post(const std::string& body, const std::string& headers = "") const {
    return ask("POST", "/v1/jobs", kJson + headers, body);
  }
  // A job with notes; returns its id.
  std::string start(const std::string& options = R"({"preset": "flute"})") const {
    const Answer answer = post(fmt::format(R"({{"notes": {}, "options": {}}})", kNotes, options));
    EXPECT_EQ(answer.status, 202) << answer.body;
    return parse_json(answer.body)["id"];
  }
  void put(const std::string& key, const std::string& bytes) {
    write_file(store_.aside() / "new", bytes);
    store_.put(key, store_.aside() / "new");
  }
  // Ends the next job in the queue with one take.
  void finish_next() {
    const Lease lease = claimed(records_);
    put(result_key(lease.job, "take-1.wav"), tone(1));
    put(result_key(lease.job, "melody.json"), fmt::format(R"({{"notes": {}}})", kNotes));
    EXPECT_TRUE(records_.finish(
        lease, {{{"name", "take-1.wav"}, {"type", "audio/wav"}, {"bytes", 3}, {"seconds", 1}},
                {{"name", "melody.json"}, {"type", "x"}, {"bytes", 3}, {"seconds", nullptr}}}));
  }
  // Expects a problem with this status whose text has this part.
  static void expect_problem(const Answer& answer, int status, const std::string& part) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(answer.headers.at("content-type"), "application/problem+json");
    const Json problem = parse_json(answer.body);
    EXPECT_EQ(problem["status"], status);
    const std::string text = problem["detail"].get<std::string>() + problem.value("hint", "");
    EXPECT_THAT(text, ::testing::HasSubstr(part));
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("/tmp"))) << "a path of the server";
  }

  FolderStore store_{scratch_.path() / "sounds"};
  SqliteRecords records_{file(), {.max_waiting = 4}}, watched_{file()};
  JobEvents events_{watched_,
                    [](const Job& job, int64_t position) { return job_json(job, position); }};
  Api api_{records_, store_, events_, {.max_seconds = 20}};
  std::unique_ptr<HttpServer> server_;
};

}  // namespace hum::serve::testing

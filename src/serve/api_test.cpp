// The API over a real server with real decoding. The test plays the worker's part.
#include "serve/api.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cctype>
#include <cmath>
#include <sstream>
#include <thread>

#include "base/files.h"
#include "serve/access/gate.h"
#include "serve/api_impl.h"
#include "serve/http/test_client.h"
#include "serve/test_jobs.h"

namespace hum::serve {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RecordsTest;
using testing::TestClient;

constexpr const char* kJson = "Content-Type: application/json\r\n";
constexpr const char* kNotes = R"([{"start": 0, "end": 1, "pitch": 60}])";

// A wav of a tone.
std::string tone(double seconds, int rate_hz = 22050) {
  const ScratchFolder folder;
  std::vector<float> samples(static_cast<size_t>(seconds * rate_hz));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(0.3 * std::sin(0.06 * static_cast<double>(i)));
  }
  audio::write_audio(folder / "tone.wav", audio::from_mono(samples, rate_hz));
  return read_file(folder / "tone.wav");
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
constexpr const char* kForm = "Content-Type: multipart/form-data; boundary=x\r\n";

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
    EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("/tmp"))) << "a path of the server";
  }

  FolderStore store_{scratch_.path() / "sounds"};
  SqliteRecords records_{file(), {.max_waiting = 4}}, watched_{file()};
  JobEvents events_{watched_,
                    [](const Job& job, int64_t position) { return job_json(job, position); }};
  Api api_{records_, store_, events_, {.max_seconds = 20}};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(ApiTest, AJobOnAnUploadIsAccepted) {
  const Answer sent = ask("POST", "/v1/uploads", kForm, Form().add("@audio", tone(2)).whole());
  ASSERT_EQ(sent.status, 201) << sent.body;
  const Json upload = parse_json(sent.body);
  EXPECT_EQ(upload["seconds"], 2);
  EXPECT_EQ(upload["id"].get<std::string>().size(), 32U);
  EXPECT_EQ(sent.headers.at("location"), "/v1/uploads/" + upload["id"].get<std::string>());
  const Answer answer =
      post(Json{{"upload", upload["id"]}, {"options", {{"preset", "flute"}, {"snap", 1}}}}.dump());
  ASSERT_EQ(answer.status, 202) << answer.body;
  const Json accepted = parse_json(answer.body);
  EXPECT_EQ(accepted["status"], "queued");
  EXPECT_EQ(accepted["position"], 1);
  const std::string self = answer.headers.at("location");
  EXPECT_EQ(accepted["links"]["self"], self);
  const Json job = get(self);
  EXPECT_EQ(job["stage"], "queued");
  EXPECT_EQ(job["position"], 1);
  EXPECT_EQ(job["upload"], upload["id"]);
  EXPECT_EQ(job["options"]["snap"], "1");
  EXPECT_TRUE(job["notes"].is_null());
}

TEST_F(ApiTest, ManySlowUploadsKeepNothingElseWaiting) {
  const auto decoder = scratch_.path() / "slow.sh";
  write_file(decoder, "#!/bin/sh\nexec sleep 1\n");
  std::filesystem::permissions(decoder, std::filesystem::perms::owner_all);
  Api api(records_, store_, events_, {.decoder = decoder});
  Router router;
  api.add_routes(router);
  const HttpServer server({.spool_folder = store_.aside()}, std::move(router));
  const std::string form = Form().add("@audio", tone(1)).whole();
  std::atomic<int> refused = 0, decoded = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 24; ++i) {
    clients.emplace_back([&] {
      const Answer answer = TestClient(server.port()).ask("POST", "/v1/uploads", kForm, form);
      refused += answer.status == 503 && answer.headers.contains("retry-after") ? 1 : 0;
      decoded += answer.status == 422 ? 1 : 0;  // sleep hands over nothing
    });
  }
  while (refused == 0 && decoded < 24) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(TestClient(server.port()).ask("GET", "/health").status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(700));
  clients.clear();
  EXPECT_EQ(refused, 12);
  EXPECT_EQ(decoded, 12);
}

TEST_F(ApiTest, AFormCarriesRecordingTimbreAndBacking) {
  const Answer answer = ask("POST", "/v1/jobs", kForm,
                            Form()
                                .add("@audio", tone(2))
                                .add("options", R"({"gain": 3})")
                                .add("@timbre", tone(1.5))
                                .add("@backing", tone(3))
                                .whole());
  ASSERT_EQ(answer.status, 202) << answer.body;
  const auto job = records_.any_job(parse_json(answer.body)["id"]);
  ASSERT_TRUE(job);
  EXPECT_EQ(store_.list("uploads").size(), 3U);
  EXPECT_EQ(records_.any_upload(job->request.backing)->seconds, 3);
  EXPECT_EQ(ask("DELETE", job_path(job->request.id)).status, 204);
  EXPECT_THAT(store_.list("uploads"), IsEmpty());
  EXPECT_EQ(records_.counts().uploads, 0);
}

TEST_F(ApiTest, BadRequestsSayWhatToDoAndLeaveNothing) {
  const auto form = [&](const Form& sent) { return ask("POST", "/v1/jobs", kForm, sent.whole()); };
  const std::string violin = R"({"preset": "violin"})";
  expect_problem(post(R"({"upload": "0123", "options": {"preset": "flute"}})"), 422, "0123");
  expect_problem(post(R"({"options": {"preset": "flute"}})"), 422, "nothing to hear");
  expect_problem(post(R"({"notes": [], "options": {"preset": "flute"}})"), 422, "notes");
  expect_problem(post(R"({"notes": 3, "task": "genrate"})"), 422, "generate");
  expect_problem(post(R"({"note": []})"), 422, "'notes'");
  expect_problem(post(R"({"upload": 3})"), 422, "upload");
  expect_problem(post("{"), 422, "not valid JSON");
  expect_problem(post("[]"), 422, "not an object");
  expect_problem(post(R"({"options": )" + std::string(5000, '[') + "}"), 422, "levels");
  expect_problem(ask("POST", "/v1/jobs", "Content-Type: text/plain\r\n", "x"), 415, "json");
  expect_problem(form(Form().add("@audio", tone(1))), 422, "preset");
  expect_problem(form(Form().add("@audio", "RIFF nonsense").add("options", violin)), 422,
                 "the recording");
  expect_problem(form(Form().add("@audio", tone(0.1)).add("options", violin)), 422, "0.25 s");
  expect_problem(form(Form().add("@audio", tone(21)).add("options", violin)), 422, "20");
  expect_problem(form(Form().add("@audio", tone(1)).add("@timbre", tone(0.5))), 422, "the timbre");
  expect_problem(form(Form().add("@audio", tone(1)).add("audios", "x")), 422, "'audio'");
  expect_problem(form(Form().add("options", violin).add("options", violin)), 400, "twice");
  expect_problem(ask("POST", "/v1/uploads", kForm, Form().add("audios", "x").whole()), 422,
                 "'audio'");
  expect_problem(post(fmt::format(R"({{"notes": {}, "options": {{"preset": "x"}}}})", kNotes),
                      "Idempotency-Key: " + std::string(300, 'k') + "\r\n"),
                 422, "Idempotency-Key");
  EXPECT_EQ(records_.counts().queued, 0);
  EXPECT_EQ(records_.counts().uploads, 0);
  EXPECT_THAT(store_.list("uploads"), IsEmpty());
  EXPECT_THAT(store_.list("aside"), IsEmpty());
}

TEST_F(ApiTest, ARecordingThatIsSentInAnotherWayIsToldTheRightOne) {
  const std::string large(200'000, 'x');  // larger than what an upload may have besides its file
  for (const char* target : {"/v1/jobs", "/v1/uploads"}) {
    const Answer named = ask("POST", target, kForm, Form().add("@file", large).whole());
    expect_problem(named, 422, "there is no part 'file'; the parts are audio, timbre, backing");
    expect_problem(named, 422, "with the recording in the part 'audio'");
    for (const char* type : {"Content-Type: audio/wav\r\n", ""}) {
      const Answer raw = ask("POST", target, type, large);
      expect_problem(raw, 415, "send multipart/form-data with the recording in the part 'audio'");
    }
  }
  expect_problem(ask("POST", "/v1/jobs"), 422, "no body");
}

TEST_F(ApiTest, AHintFitsTheJsonThatIsBroken) {
  const auto form = [&](const char* part) {
    return ask("POST", "/v1/jobs", kForm, Form().add(part, "{").whole());
  };
  expect_problem(form("options"), 422, R"(options: is not valid JSON{"preset")");
  expect_problem(form("notes"), 422, R"(notes: is not valid JSON[{"start")");
  expect_problem(post("{"), 422, R"(the body: is not valid JSON{"upload": ID)");
}

TEST_F(ApiTest, ANoteThatIsWrongIsNamed) {
  const auto with = [&](const char* note) {
    return post(fmt::format(R"({{"notes": [{}], "options": {{"preset": "flute"}}}})", note));
  };
  expect_problem(with(R"({"start": 0, "ende": 1, "pitch": 60})"), 422,
                 "note 1: there is no key 'ende'the nearest one is 'end'");
  expect_problem(with(R"({"start": 0, "end": 1, "pitch": 600})"), 422,
                 "note 1: pitch 600 is outside 0..127");
}

TEST_F(ApiTest, UnknownThingsAreMissing) {
  for (const char* target :
       {"/v1/jobs/0123", "/v1/jobs/0123/events", "/v1/jobs/0123/results/stream.wav",
        "/v1/uploads/0123", "/v1/nothing"}) {
    EXPECT_EQ(ask("GET", target).status, 404) << target;
  }
  EXPECT_EQ(ask("DELETE", "/v1/jobs/0123").status, 404);
  EXPECT_EQ(ask("PUT", "/v1/jobs").status, 405);
  EXPECT_EQ(ask("GET", "/v1/jobs?limit=0").status, 422);
  EXPECT_EQ(ask("GET", "/v1/jobs?cursor=x").status, 422);
}

TEST_F(ApiTest, AKeyRepeatsTheFirstAnswer) {
  const std::string body =
      fmt::format(R"({{"notes": {}, "options": {{"preset": "flute"}}}})", kNotes);
  const std::string key = "Idempotency-Key: k1\r\n";
  const Answer first = post(body, key), second = post(body, key);
  EXPECT_EQ(second.status, 202);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(records_.counts().queued, 1);
  expect_problem(post(body + " ", key), 422, "Idempotency-Key");
  const auto upload = [&](double seconds) {
    return ask("POST", "/v1/uploads", kForm + std::string("Idempotency-Key: u1\r\n"),
               Form().add("@audio", tone(seconds)).whole());
  };
  const Answer sent = upload(1);
  EXPECT_EQ(sent.status, 201);
  EXPECT_EQ(upload(1).body, sent.body);
  EXPECT_EQ(upload(1.5).status, 422);
  EXPECT_EQ(store_.list("uploads").size(), 1U);
}

TEST_F(ApiTest, AFullQueueAsksToComeBack) {
  for (int i = 0; i < 4; ++i) start();
  const Answer full = post(fmt::format(R"({{"notes": {}, "options": {{"preset": "x"}}}})", "[]"));
  EXPECT_EQ(full.status, 422) << "what is wrong stays wrong";
  const Answer waiting =
      post(fmt::format(R"({{"notes": {}, "options": {{"preset": "flute"}}}})", kNotes));
  expect_problem(waiting, 429, "4 jobs are waiting");
  EXPECT_EQ(waiting.headers.at("retry-after"), "10");
}

TEST_F(ApiTest, JobsAreListedInPages) {
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(start());
  const Json first = get("/v1/jobs?limit=2");
  ASSERT_EQ(first["jobs"].size(), 2U);
  EXPECT_EQ(first["jobs"][0]["id"], ids[2]);
  const Json second = get("/v1/jobs?limit=2&cursor=" + first["next"].get<std::string>());
  ASSERT_EQ(second["jobs"].size(), 1U);
  EXPECT_EQ(second["jobs"][0]["id"], ids[0]);
  EXPECT_TRUE(second["next"].is_null());
}

TEST_F(ApiTest, ResultsHaveRangesTagsAndOtherFormats) {
  const std::string id = start(), results = job_path(id) + "/results/";
  EXPECT_EQ(ask("GET", results + "take-1.wav").status, 409);
  finish_next();
  const Json job = get(job_path(id));
  EXPECT_EQ(job["status"], "done");
  EXPECT_EQ(job["results"][0]["url"], results + "take-1.wav");
  const Answer whole = ask("GET", results + "take-1.wav");
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.headers.at("content-type"), "audio/wav");
  EXPECT_EQ(whole.body, tone(1));
  const Answer part = ask("GET", results + "take-1.wav", "Range: bytes=0-3\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "RIFF");
  const std::string tag = whole.headers.at("etag");
  EXPECT_EQ(ask("GET", results + "take-1.wav", "If-None-Match: " + tag + "\r\n").status, 304);
  const Answer flac = ask("GET", results + "take-1.flac");
  EXPECT_EQ(flac.status, 200);
  EXPECT_EQ(flac.body.substr(0, 4), "fLaC");
  EXPECT_EQ(ask("GET", results + "take-1.flac").body, flac.body);
  EXPECT_THAT(ask("GET", results + "melody.csv").body, HasSubstr("start_time_s"));
  EXPECT_EQ(ask("GET", results + "all.zip").body.substr(0, 2), "PK");
  for (const char* other : {"take-2.wav", "take-1.WAV", "take-1.exe", "melody.mid",
                            "records.sqlite", "..%2f..%2frecords.sqlite", "stream.wav"}) {
    EXPECT_THAT(ask("GET", results + other).status, AnyOf(404, 400)) << other;
  }
  EXPECT_EQ(ask("DELETE", job_path(id)).status, 204);
  EXPECT_THAT(store_.list("jobs"), IsEmpty());
  EXPECT_EQ(ask("GET", results + "take-1.wav").status, 404);
}

TEST_F(ApiTest, AStreamPlaysWhileItIsMade) {
  const std::string id = start(), stream = job_path(id) + "/results/stream.wav";
  TestClient client(server_->port());
  client.send("GET " + stream + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Lease lease = claimed(records_);
  const auto path = store_.growing(result_key(id, kStreamName));
  write_file(path, "RIFF");
  records_.progress(lease, {"play", 0.1, std::nullopt});
  EXPECT_THAT(client.read_until("RIFF"), HasSubstr("200"));
  std::FILE* file = std::fopen(path.c_str(), "ab");
  std::fputs("first part", file);
  std::fflush(file);
  EXPECT_THAT(client.read_until("first part"), HasSubstr("first part"));
  std::fputs("last part", file);
  std::fclose(file);
  records_.progress(lease, {"write", 0, std::nullopt});
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("last part"));
  put(result_key(id, "take-1.wav"), tone(1));
  records_.finish(lease, Json::array());
  EXPECT_EQ(ask("GET", stream).body, "RIFFfirst partlast part");
}

TEST_F(ApiTest, AStreamOfAJobThatIsRemovedIsCut) {
  const std::string id = start(), stream = job_path(id) + "/results/stream.wav";
  claimed(records_);
  write_file(store_.growing(result_key(id, kStreamName)), "RIFF");
  TestClient client(server_->port());
  client.send("GET " + stream + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.read_until("RIFF");
  EXPECT_EQ(ask("DELETE", job_path(id)).status, 204);
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_THAT(client.unread(), ::testing::Not(HasSubstr("0\r\n\r\n"))) << "not the end of a whole";
}

TEST_F(ApiTest, EventsTellEveryStateOnceAndEnd) {
  const std::string id = start();
  TestClient client(server_->port());
  client.send("GET " + job_path(id) + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.read_until("\"queued\""), HasSubstr("event: job"));
  const Lease lease = claimed(records_);
  client.read_until("\"running\"");
  records_.set_heard(lease, {{"notes", parse_json(kNotes)}});
  client.read_until("\"pitch\":60");
  records_.finish(lease, Json::array());
  client.read_until("\"done\"");
  EXPECT_NE(client.read_until("0\r\n\r\n"), "") << "the stream ends";
  const int64_t version = records_.any_job(id)->version;
  EXPECT_EQ(
      ask("GET", job_path(id) + "/events", fmt::format("Last-Event-ID: {}\r\n", version)).status,
      204);
  const Answer late = ask("GET", job_path(id) + "/events");
  EXPECT_THAT(late.body, HasSubstr(fmt::format("id: {}\n", version)));
}

TEST_F(ApiTest, EventsOfARemovedJobEndWithCancelled) {
  const std::string id = start();
  TestClient client(server_->port());
  client.send("GET " + job_path(id) + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.read_until("\"queued\"");
  EXPECT_EQ(ask("DELETE", job_path(id)).status, 204);
  EXPECT_NE(client.read_until("\"cancelled\""), "");
  EXPECT_NE(client.read_until("0\r\n\r\n"), "");
}

TEST_F(ApiTest, AFailedJobSaysWhy) {
  const std::string id = start();
  records_.fail_job(claimed(records_), testing::kFault);
  const Json job = get(job_path(id));
  EXPECT_EQ(job["status"], "failed");
  EXPECT_EQ(job["error"]["detail"], "why");
}

TEST_F(ApiTest, ItIsReadyWhenAWorkerIs) {
  EXPECT_EQ(ask("GET", "/health").status, 200);
  EXPECT_EQ(ask("GET", "/ready").status, 503);
  records_.report_worker({"w", false});
  EXPECT_EQ(ask("GET", "/ready").status, 503);
  records_.report_worker({"w", true});
  EXPECT_EQ(ask("GET", "/ready").status, 200);
}

TEST_F(ApiTest, PresetsAreThoseOfTheProgram) {
  const Json presets = get("/v1/presets")["presets"];
  EXPECT_GT(presets.size(), 100U);
  EXPECT_EQ(presets[0]["name"], "acoustic-grand-piano");
  EXPECT_EQ(presets[0]["family"], "piano");
}

TEST_F(ApiTest, ThePresetsSoundIsPlayedOnce) {
  const std::string path = get("/v1/presets")["presets"][0]["sound"];
  EXPECT_EQ(ask("GET", "/v1/presets/kazoo/sound.wav").status, 404);
  const Answer first = ask("GET", path);
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(first.headers.at("retry-after"), "1");
  EXPECT_EQ(ask("GET", path).status, 202);
  EXPECT_EQ(records_.counts().queued, 1);
  EXPECT_THAT(get("/v1/jobs")["jobs"], IsEmpty()) << "it is nobody's job";
  finish_next();
  EXPECT_EQ(ask("GET", path).body, tone(1));
  EXPECT_EQ(ask("GET", path).body, tone(1));
  EXPECT_EQ(records_.counts().done, 0);
  EXPECT_THAT(store_.list("jobs"), IsEmpty());
}

TEST_F(ApiTest, PagesOfOtherOriginsStartNoPresetSounds) {
  const std::string path = PresetSounds::path("violin");
  expect_problem(ask("GET", path, "Sec-Fetch-Site: cross-site\r\n"), 403, "other origins");
  EXPECT_EQ(records_.counts().queued, 0);
  EXPECT_EQ(ask("GET", path, "Sec-Fetch-Site: same-origin\r\n").status, 202);
}

TEST_F(ApiTest, APresetThatCannotBePlayedIsTriedOnce) {
  const std::string path = PresetSounds::path("violin");
  EXPECT_EQ(ask("GET", path).status, 202);
  records_.fail_job(claimed(records_), testing::kFault);
  EXPECT_EQ(ask("GET", path).status, 500);
  EXPECT_EQ(ask("GET", path).status, 500);
  EXPECT_EQ(records_.counts().queued, 0);
}

TEST_F(ApiTest, AnUploadMayBeATimbreOrABacking) {
  const auto send = [&](const Form& form) {
    return ask("POST", "/v1/uploads", kForm, form.whole());
  };
  expect_problem(send(Form().add("@timbre", tone(0.5))), 422, "the timbre");
  EXPECT_EQ(send(Form().add("@timbre", tone(1.5))).status, 201);
  const Answer sent = send(Form().add("@backing", tone(3)));
  ASSERT_EQ(sent.status, 201) << sent.body;
  const Json backing = parse_json(sent.body);
  const auto wav = store_.find(upload_key(backing["id"]));
  EXPECT_EQ(audio::read_audio(*wav).channels, 1) << "as in the file";
  expect_problem(send(Form().add("@audio", tone(1)).add("@backing", tone(1))), 422, "one sound");
}

TEST_F(ApiTest, EventsTellWhenTheQueueMoves) {
  start();
  const std::string id = start();
  TestClient client(server_->port());
  client.send("GET " + job_path(id) + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(client.read_until("\"position\":2"), "");
  claimed(records_);
  EXPECT_NE(client.read_until("\"position\":1"), "");
}

TEST_F(ApiTest, TheDocumentHasEveryRoute) {
  const Json document = get("/openapi.json");
  EXPECT_EQ(document["openapi"], "3.1.0");
  EXPECT_TRUE(document["components"]["schemas"]["JobOptions"]["properties"].contains("preset"));
  Router router;
  Gate gate;
  api_.add_routes(router);
  gate.add_routes(router);
  size_t operations = 0;
  for (const auto& [path, item] : document["paths"].items()) {
    std::vector<std::string> segments;
    std::istringstream words(path.substr(1));
    for (std::string word; std::getline(words, word, '/');) segments.push_back(word);
    for (const auto& [name, unused] : item.items()) {
      if (name == "parameters") continue;
      std::string method = name;
      for (char& c : method) c = static_cast<char>(std::toupper(c));
      const auto match = router.match(method, segments);
      ASSERT_NE(match.route, nullptr) << method << ' ' << path;
      EXPECT_EQ(match.route->pattern, path);
      ++operations;
    }
  }
  EXPECT_EQ(operations, 17U) << "a route is not described, or this number is old";
}

}  // namespace
}  // namespace hum::serve

// The calls of the API that take jobs and uploads, list them, and describe the service.
#include <gmock/gmock.h>

#include <atomic>
#include <cctype>
#include <sstream>
#include <thread>

#include "serve/access/gate.h"
#include "serve/api/test_api.h"

namespace hum::serve {
namespace {

using testing::Answer;
using testing::ApiTest;
using testing::Form;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kForm;
using testing::kNotes;
using testing::TestClient;
using testing::tone;

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
  EXPECT_EQ(operations, 18U) << "a route is not described, or this number is old";
}

}  // namespace
}  // namespace hum::serve

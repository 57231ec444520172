// Keys, sessions and quotas over a real server with the API. The test plays the worker's part.
#include "serve/access/gate.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "serve/api/api_impl.h"
#include "serve/http/test_client.h"
#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using testing::Answer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RecordsTest;
using testing::TestClient;

constexpr const char* kJob = R"({"notes": [{"start": 0, "end": 10, "pitch": 60}],
                               "options": {"preset": "flute", "lm": true, "takes": 2}})";

std::string bearer(const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; }

class GateTest : public RecordsTest {
 protected:
  void SetUp() override {
    anna_ = add_key(keys_, "anna");
    ben_ = add_key(keys_, "ben", {.jobs = 2, .seconds_per_hour = 60, .bytes = 1000});
    start();
  }
  void start(const std::vector<std::string>& proxies = {}) {
    server_.reset();
    gate_ = std::make_unique<Gate>(keys_, scratch_.path() / "secret");
    Router router;
    gate_->add_routes(router);
    api_.add_routes(router);
    router.add("GET", "/", [](Request&) { return Response{.body = std::string("page")}; });
    ServerOptions options{.spool_folder = store_.aside(), .proxies = proxies};
    options.admit = [this](Request& request) { return gate_->admit(request); };
    options.ping_interval = ping_;
    server_ = std::make_unique<HttpServer>(options, std::move(router));
  }

  Answer ask(const std::string& method, const std::string& target, const std::string& headers = "",
             const std::string& body = "") const {
    return TestClient(server_->port()).ask(method, target, headers, body);
  }
  Answer post(const std::string& headers, const std::string& body = kJob) const {
    return ask("POST", "/v1/jobs", "Content-Type: application/json\r\n" + headers, body);
  }
  std::string start_job(const std::string& token) const {
    const Answer answer = post(bearer(token));
    EXPECT_EQ(answer.status, 202) << answer.body;
    return parse_json(answer.body)["id"];
  }
  Answer log_in(const std::string& token, const std::string& headers = "") const {
    return ask("POST", "/v1/session", headers, to_text(Json{{"token", token}}));
  }
  // The request header for the cookie of an answer.
  static std::string cookie_of(const Answer& answer) {
    const std::string field = answer.headers.at("set-cookie");
    return "Cookie: " + field.substr(0, field.find(';')) + "\r\n";
  }
  static std::string csrf_of(const Answer& answer) {
    return "X-CSRF-Token: " + parse_json(answer.body)["csrf"].get<std::string>() + "\r\n";
  }
  static void expect_limit(const Answer& answer, const std::string& name) {
    EXPECT_EQ(answer.status, 429) << answer.body;
    EXPECT_EQ(answer.headers.at("content-type"), "application/problem+json");
    EXPECT_GT(std::stoi(answer.headers.at("retry-after")), 0);
    EXPECT_EQ(parse_json(answer.body)["limit"], name);
    EXPECT_THAT(answer.body, HasSubstr("hint"));
  }

  const fs::path keys_ = scratch_.path() / "keys.txt";
  std::chrono::milliseconds ping_{15'000};
  std::string anna_, ben_;
  std::unique_ptr<Gate> gate_;
  FolderStore store_{scratch_.path() / "sounds"};
  SqliteRecords records_{
      file(), {.quota_of = [this](const std::string& caller) { return gate_->quota_of(caller); }}};
  SqliteRecords watched_{file()};
  JobEvents events_{watched_,
                    [](const Job& job, int64_t position) { return job_json(job, position); }};
  Api api_{records_, store_, events_, {}};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(GateTest, WithoutAKeyOnlyThePublicIsThere) {
  for (const char* target : {"/", "/health", "/openapi.json", "/v1/session"}) {
    EXPECT_EQ(ask("GET", target).status, 200) << target;
  }
  for (const char* target : {"/v1/jobs", "/v1/presets", "/v1/jobs/0123/results/take-1.wav"}) {
    const Answer refused = ask("GET", target);
    EXPECT_EQ(refused.status, 401) << target;
    EXPECT_THAT(refused.headers.at("www-authenticate"), HasSubstr("Bearer"));
    EXPECT_EQ(ask("GET", target, bearer("hum_" + std::string(64, '0'))).status, 401) << target;
  }
  EXPECT_EQ(post("").status, 401);
  EXPECT_EQ(post("Authorization: Basic " + anna_ + "\r\n").status, 401);
  EXPECT_EQ(post(bearer("")).status, 401);
  EXPECT_EQ(ask("GET", "/v1/jobs", "authorization: bearer  " + anna_ + "\r\n").status, 200);
}

TEST_F(GateTest, AnotherKeysJobDoesNotExist) {
  const std::string id = start_job(anna_), job = job_path(id);
  EXPECT_EQ(records_.any_job(id)->request.caller, "anna");
  for (const std::string& target : {job, job + "/events", job + "/results/stream.wav"}) {
    EXPECT_EQ(ask("GET", target, bearer(ben_)).status, 404) << target;
  }
  EXPECT_EQ(ask("DELETE", job, bearer(ben_)).status, 404);
  EXPECT_THAT(parse_json(ask("GET", "/v1/jobs", bearer(ben_)).body)["jobs"], IsEmpty());
  EXPECT_EQ(ask("GET", job, bearer(anna_)).status, 200);
  EXPECT_EQ(parse_json(ask("GET", "/v1/jobs", bearer(anna_)).body)["jobs"].size(), 1U);
  EXPECT_EQ(ask("DELETE", job, bearer(anna_)).status, 204);
}

TEST_F(GateTest, AnOpenStreamEndsWithItsKey) {
  ping_ = std::chrono::milliseconds(20);
  start();
  const std::string hers = job_path(start_job(anna_)), his = job_path(start_job(ben_));
  const auto listen = [](TestClient& client, const std::string& job, const std::string& headers) {
    client.send("GET " + job + "/events HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    EXPECT_NE(client.read_until(": ping\n\n"), "");
  };
  TestClient by_token(server_->port()), by_cookie(server_->port()), other(server_->port());
  listen(by_token, hers, bearer(anna_));
  listen(by_cookie, hers, cookie_of(log_in(anna_)));
  listen(other, his, bearer(ben_));
  remove_key(keys_, "anna");
  for (TestClient* client : {&by_token, &by_cookie}) {
    EXPECT_NE(client->read_until("0\r\n\r\n"), "");
    EXPECT_TRUE(client->wait_for_end());
  }
  EXPECT_FALSE(other.wait_for_end(std::chrono::milliseconds(100)));
}

TEST_F(GateTest, IdempotencyKeysBelongToTheCaller) {
  const std::string same = "Idempotency-Key: k\r\n";
  const Answer first = post(bearer(anna_) + same), other = post(bearer(ben_) + same);
  EXPECT_EQ(other.status, 202);
  EXPECT_NE(parse_json(first.body)["id"], parse_json(other.body)["id"]);
  EXPECT_EQ(post(bearer(anna_) + same).body, first.body);
}

TEST_F(GateTest, ANewTokenReplacesTheOldOneAndKeepsTheJobs) {
  const std::string id = start_job(anna_);
  const Answer session = log_in(anna_);
  remove_key(keys_, "anna");
  EXPECT_EQ(ask("GET", job_path(id), bearer(anna_)).status, 401);
  const std::string renewed = add_key(keys_, "anna");
  EXPECT_EQ(ask("GET", job_path(id), bearer(anna_)).status, 401);
  EXPECT_EQ(ask("GET", job_path(id), bearer(renewed)).status, 200);
  EXPECT_EQ(ask("GET", job_path(id), cookie_of(session)).status, 401)
      << "its sessions end with a token";
}

// ---- Sessions ----

TEST_F(GateTest, ThePageLogsInWithACookie) {
  EXPECT_TRUE(parse_json(ask("GET", "/v1/session").body)["name"].is_null());
  const Answer session = log_in(anna_);
  ASSERT_EQ(session.status, 200) << session.body;
  const std::string field = session.headers.at("set-cookie");
  for (const char* attribute : {"; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age="}) {
    EXPECT_THAT(field, HasSubstr(attribute));
  }
  EXPECT_THAT(field, Not(HasSubstr("Secure"))) << "the server speaks HTTP";
  const std::string cookie = cookie_of(session);
  EXPECT_EQ(ask("GET", "/v1/jobs", cookie).status, 200);
  const Json again = parse_json(ask("GET", "/v1/session", cookie).body);
  EXPECT_EQ(again["name"], "anna");
  EXPECT_EQ(again["csrf"], parse_json(session.body)["csrf"]);
  const Answer ended = ask("DELETE", "/v1/session", cookie);
  EXPECT_EQ(ended.status, 204);
  EXPECT_THAT(ended.headers.at("set-cookie"), HasSubstr("hum_session=; Path=/; Max-Age=0"));
}

TEST_F(GateTest, WhatACookieChangesNeedsTheCsrfToken) {
  const Answer session = log_in(anna_), other = log_in(ben_);
  const std::string cookie = cookie_of(session);
  EXPECT_EQ(post(cookie).status, 403);
  EXPECT_EQ(post(cookie + csrf_of(other)).status, 403);
  EXPECT_EQ(post(cookie + "X-CSRF-Token: \r\n").status, 403);
  const Answer accepted = post(cookie + csrf_of(session));
  ASSERT_EQ(accepted.status, 202) << accepted.body;
  const std::string job = accepted.headers.at("location");
  EXPECT_EQ(ask("DELETE", job, cookie).status, 403);
  EXPECT_EQ(ask("DELETE", job, cookie + csrf_of(session)).status, 204);
}

TEST_F(GateTest, ACookieOutlivesARestartAndCannotBeForged) {
  const std::string cookie = cookie_of(log_in(anna_));
  start();
  EXPECT_EQ(ask("GET", "/v1/jobs", cookie).status, 200);
  std::string forged = cookie;
  forged.replace(forged.find("anna"), 4, "ben");
  std::string longer = cookie;
  longer.replace(longer.find('.') + 1, 1, "9");
  for (const std::string& wrong :
       {forged, longer, std::string("Cookie: hum_session=anna\r\n"),
        std::string("Cookie: hum_session=anna..\r\n"), std::string("Cookie: hum_session=..\r\n"),
        std::string("Cookie: hum_session=anna.99999999999.\r\n")}) {
    EXPECT_EQ(ask("GET", "/v1/jobs", wrong).status, 401) << wrong;
  }
  fs::remove(scratch_.path() / "secret");
  start();
  EXPECT_EQ(ask("GET", "/v1/jobs", cookie).status, 401) << "another secret";
}

TEST_F(GateTest, TheSecretIsForTheOwnerOnly) {
  EXPECT_EQ(fs::status(scratch_.path() / "secret").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  write_file(scratch_.path() / "secret", "");
  EXPECT_THROW(Gate(keys_, scratch_.path() / "secret"), Error);
}

TEST_F(GateTest, BehindATlsProxyTheCookieIsSecure) {
  const std::string by_proxy = "X-Forwarded-Proto: https\r\n";
  EXPECT_THAT(log_in(anna_, by_proxy).headers.at("set-cookie"), Not(HasSubstr("Secure")));
  start({"127.0.0.1"});
  EXPECT_THAT(log_in(anna_, by_proxy).headers.at("set-cookie"), HasSubstr("; Secure"));
}

TEST_F(GateTest, AWrongLoginIsRefused) {
  EXPECT_EQ(log_in("hum_0").status, 401);
  EXPECT_FALSE(log_in("hum_0").headers.contains("set-cookie"));
  for (const char* body : {"", "[]", "{}", R"({"token": 3})", "{"}) {
    EXPECT_EQ(ask("POST", "/v1/session", "", body).status, 422) << body;
  }
  EXPECT_EQ(log_in(anna_, "Origin: http://evil.example\r\n").status, 403);
}

TEST(Gate, WithoutKeysEverybodyIsLocalAndHasNoLimit) {
  const Gate gate;
  Request request{.method = "POST", .route = "/v1/jobs"};
  EXPECT_FALSE(gate.admit(request));
  EXPECT_EQ(request.caller, kLocalCaller);
  EXPECT_EQ(gate.quota_of(kLocalCaller).jobs, 0);
  EXPECT_FALSE(gate.has_keys());
}

// ---- Quotas ----

TEST_F(GateTest, JobsAtOnceAreLimited) {
  const std::string first = start_job(ben_);
  const Answer second = post(bearer(ben_) + "Idempotency-Key: k\r\n");
  expect_limit(post(bearer(ben_)), "jobs");
  EXPECT_EQ(post(bearer(ben_) + "Idempotency-Key: k\r\n").body, second.body)
      << "a repeated request is no new job";
  start_job(anna_);
  EXPECT_EQ(ask("DELETE", job_path(first), bearer(ben_)).status, 204);
  EXPECT_EQ(post(bearer(ben_)).status, 202);
}

TEST_F(GateTest, SoundInAnHourIsLimitedAlsoOfRemovedJobs) {
  for (int i = 0; i < 3; ++i) {  // 20 s each: 10 s of notes in two takes
    EXPECT_EQ(ask("DELETE", job_path(start_job(ben_)), bearer(ben_)).status, 204);
  }
  const Answer refused = post(bearer(ben_));
  expect_limit(refused, "seconds_per_hour");
  EXPECT_NEAR(std::stoi(refused.headers.at("retry-after")), 3600, 60);
  Database(file(), true).run_script("UPDATE usage SET at_ms = at_ms - 3600000");
  records_.sweep(testing::nobody_is_dead);
  EXPECT_EQ(post(bearer(ben_)).status, 202);
}

TEST_F(GateTest, BytesAreLimited) {
  start_job(ben_);
  const Json result = {{"name", "take-1.wav"}, {"bytes", 1000}};
  EXPECT_TRUE(records_.finish(claimed(records_), Json::array({result})));
  expect_limit(post(bearer(ben_)), "bytes");
  const std::string form = "Content-Type: multipart/form-data; boundary=x\r\n";
  expect_limit(ask("POST", "/v1/uploads", form + bearer(ben_),
                   "--x\r\nContent-Disposition: form-data; name=\"audio\"; "
                   "filename=\"a\"\r\n\r\nRIFF\r\n--x--\r\n"),
               "bytes");
  const Json jobs = parse_json(ask("GET", "/v1/jobs", bearer(ben_)).body)["jobs"];
  ask("DELETE", jobs[0]["links"]["self"].get<std::string>(), bearer(ben_));
  EXPECT_EQ(post(bearer(ben_)).status, 202);
}

TEST_F(GateTest, ALimitInTheFileHoldsAtOnce) {
  start_job(ben_);
  start_job(ben_);
  expect_limit(post(bearer(ben_)), "jobs");
  std::string text = read_file(keys_);
  text.replace(text.find("jobs=2"), 6, "jobs=3");
  write_file(keys_, text);
  EXPECT_EQ(post(bearer(ben_)).status, 202);
}

}  // namespace
}  // namespace hum::serve

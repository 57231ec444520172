// The client against a server that is busy, breaks off, or refuses.
#include "serve/client/client.h"

#include <gmock/gmock.h>

#include <atomic>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/testing/refusal.h"
#include "serve/http/test_client.h"
#include "serve/http/test_tls.h"

namespace hum::serve {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr Patience kShort{.longest = milliseconds(5000), .first_pause = milliseconds(1)};
constexpr Patience kVeryShort{.longest = milliseconds(100), .first_pause = milliseconds(1)};

template <class F>
void expect_refused(ExitCode code, const std::string& text, const F& call) {
  EXPECT_EQ(hum::testing::code_of(call), code);
  EXPECT_THAT(hum::testing::message_of(call), HasSubstr(text));
}

class ClientTest : public testing::ServerTest {
 protected:
  Client client(const std::string& key = "", Patience patience = kShort) const {
    return Client(ServerAccess{.url = server->url() + "/", .key = key}, patience);
  }
  // What `ask` throws for this call.
  Error refusal_of(const Call& call) const {
    try {
      client("", kVeryShort).ask(call);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "it was not refused";
    return {ExitCode::kOk, "", ""};
  }
  // A route that answers with this.
  void add(const std::string& path, Response response) {
    router.add("GET", path, [response](Request&) { return response; });
  }
};

TEST_F(ClientTest, SendsItsKeyAndForm) {
  Request seen;
  router.add("POST", "/v1/jobs",
             [&](Request& request) {
               seen.headers = request.headers;
               seen.parts = std::move(request.parts);
               return json_response(202, {{"id", "7"}});
             },
             {.form_bytes = 1 << 20, .file_parts = {"audio"}});
  start();
  FormWriter form;
  form.text("task", "notes").file("audio", std::string("a\r\n--\0b", 7));
  const std::string body = form.body();
  const Json answer = client("secret").ask_json(
      {.method = "POST", .path = "/v1/jobs", .headers = {form.content_type()}, .body = body});
  EXPECT_EQ(answer["id"], "7");
  EXPECT_EQ(seen.headers.get("Authorization"), "Bearer secret");
  ASSERT_EQ(seen.parts.size(), 2U);
  EXPECT_EQ(seen.parts[0].name, "task");
  EXPECT_EQ(seen.parts[0].text, "notes");
  EXPECT_EQ(read_file(seen.parts[1].file.path()), std::string("a\r\n--\0b", 7));
}

TEST_F(ClientTest, ComesBackToABusyServerWithTheSameRequest) {
  std::vector<std::string> keys;
  router.add("POST", "/v1/jobs", [&](Request& request) {
    keys.emplace_back(request.headers.get("Idempotency-Key"));
    if (keys.size() < 3) {
      Response busy = problem(keys.size() == 1 ? 429 : 503, "busy");
      busy.headers.set("Retry-After", "1");
      return busy;
    }
    return json_response(202, {{"id", "7"}});
  });
  start();
  const auto begin = std::chrono::steady_clock::now();
  client().ask({.method = "POST", .path = "/v1/jobs", .headers = {"Idempotency-Key: k"}});
  EXPECT_EQ(keys.size(), 3U);
  EXPECT_THAT(keys, Each("k"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(2000));
}

// A server that needs 400 ms for each refusal.
class SlowRefusals : public ClientTest {
 protected:
  void refuse_times(int refusals) {
    router.add("GET", "/slow", [this, refusals](Request&) {
      std::this_thread::sleep_for(milliseconds(400));
      return ++asked > refusals ? json_response(200, Json::object()) : problem(502, "busy");
    });
    start();
  }
  std::atomic<int> asked = 0;
};

TEST_F(SlowRefusals, DoNotUseUpThePatience) {
  refuse_times(3);
  const Patience patience{.longest = milliseconds(300),
                          .long_attempt = milliseconds(200),
                          .first_pause = milliseconds(1)};
  client("", patience).ask({.path = "/slow"});
  EXPECT_EQ(asked, 4);
}

TEST_F(SlowRefusals, AreNotAcceptedForever) {
  refuse_times(100);
  const Patience patience{.longest = milliseconds(300),
                          .long_attempt = milliseconds(200),
                          .long_attempts = 3,
                          .first_pause = milliseconds(1)};
  expect_refused(ExitCode::kTemporary, "busy",
                 [&] { client("", patience).ask({.path = "/slow"}); });
  EXPECT_EQ(asked, 6) << "expect_refused asks twice";
}

TEST_F(ClientTest, TellsWhyItWaitsAndForHowLong) {
  int asked = 0;
  router.add("GET", "/jobs", [&](Request&) {
    if (++asked > 1) return json_response(200, Json::object());
    Response full = problem(429, "this key has 1 job already");
    full.headers.set("Retry-After", "1");
    return full;
  });
  start();
  std::vector<Waiting> told;
  Client client = this->client();
  client.on_wait([&](const Waiting& waiting) { told.push_back(waiting); });
  client.ask({.path = "/jobs"});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_FALSE(told[0].is_lost);
  EXPECT_EQ(told[0].reason, "this key has 1 job already");
  EXPECT_EQ(told[0].pause, milliseconds(1000));
}

TEST_F(ClientTest, TellsThatItHardlyWaitsForAServerThatHasNotAnswered) {
  std::vector<Waiting> told;
  Client client(ServerAccess{.url = "http://127.0.0.1:1"}, {});
  client.on_wait([&](const Waiting& waiting) { told.push_back(waiting); });
  EXPECT_EQ(hum::testing::code_of([&] { client.ask({.path = "/jobs"}); }), ExitCode::kUnavailable);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].is_lost);
  EXPECT_EQ(told[0].patience, told[0].pause);
}

TEST_F(ClientTest, DoesNotWaitForALimitThatLastsLonger) {
  Response full = problem(429, "the hour is used up", Json{{"hint", "try again in an hour"}});
  full.headers.set("Retry-After", "3600");
  add("/jobs", full);
  start();
  const auto begin = std::chrono::steady_clock::now();
  const Error refusal = refusal_of({.path = "/jobs"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2000));
  EXPECT_EQ(refusal.code(), ExitCode::kTemporary);
  EXPECT_EQ(refusal.message(), "the hour is used up");
  EXPECT_EQ(refusal.hint(), "try again in an hour");
}

TEST_F(ClientTest, WaitsLongerThanAServerNeedsToRestart) {
  constexpr std::string_view kName = "TimeoutStopSec=";
  const std::string unit = read_file(source_folder() / "deploy/hum.service");
  const std::chrono::seconds stop(std::stoi(unit.substr(unit.find(kName) + kName.size())));
  EXPECT_GE(Patience().longest, stop + std::chrono::seconds(50));
}

TEST_F(ClientTest, ComesBackAfterALostConnection) {
  std::atomic<int> asked = 0;
  const std::filesystem::path whole = files / "whole";
  write_file(whole, "all of it");
  router.add("GET", "/result", [&](Request&) {
    if (++asked > 1) return Response{.body = FileBody{whole, ""}};
    const auto broken = [] { return Growth{3, Growth::kBroken}; };
    return Response{.body = GrowingFileBody{.path = whole, .growth = broken}};
  });
  add("/health", json_response(200, Json::object()));
  start();
  Client client = this->client();
  client.ask({.path = "/health"});
  std::string received;
  const auto new_sink = [&] {
    received.clear();
    return [&](std::string_view bytes) { received += bytes; };
  };
  client.ask({.path = "/result", .new_sink = new_sink});
  EXPECT_EQ(received, "all of it");
  EXPECT_EQ(asked, 2);
}

TEST_F(ClientTest, PassesTheReasonOn) {
  add("/silent", problem(422, "the recording is silent", Json{{"hint", "hum louder"}}));
  add("/secret", problem(401, "there is no such key", Json{{"hint", "send the header"}}));
  add("/busy", problem(429, "1000 jobs are waiting"));
  add("/page", Response{.status = 400, .content_type = "text/html", .body = "<h1>no</h1>"});
  add("/text", Response{.body = "hello"});
  start();
  const Error silent = refusal_of({.path = "/silent"});
  EXPECT_EQ(silent.code(), ExitCode::kBadData);
  EXPECT_EQ(silent.message(), "the recording is silent");
  EXPECT_EQ(silent.hint(), "hum louder");
  const Error secret = refusal_of({.path = "/secret"});
  EXPECT_EQ(secret.code(), ExitCode::kNoPermission);
  EXPECT_THAT(secret.hint(), HasSubstr("HUM_KEY"));
  const Error busy = refusal_of({.path = "/busy"});
  EXPECT_EQ(busy.code(), ExitCode::kTemporary);
  EXPECT_EQ(busy.message(), "1000 jobs are waiting");
  EXPECT_THAT(refusal_of({.path = "/page"}).message(), HasSubstr("answers HTTP 400"));
  expect_refused(ExitCode::kBadData, "does not answer as a hum serve",
                 [&] { client().ask_json({.path = "/text"}); });
}

TEST_F(ClientTest, PrefersTheHintOfTheServer) {
  add("/full", problem(429, "too many requests", Json{{"hint", "ask once a second"}}));
  add("/busy", problem(502, "busy"));
  start();
  Client client = this->client("", kVeryShort);
  client.set_hint("fetch it later");
  const auto ask = [&](const std::string& path) {
    return hum::testing::message_of([&] { client.ask({.path = path}); });
  };
  EXPECT_THAT(ask("/full"), HasSubstr("hint: ask once a second"));
  EXPECT_THAT(ask("/busy"), HasSubstr("hint: fetch it later"));
  server.reset();
  EXPECT_THAT(ask("/full"), HasSubstr("hint: fetch it later"));
}

TEST_F(ClientTest, SaysThatThereIsNoServer) {
  start();
  const std::string url = server->url();
  server.reset();
  expect_refused(ExitCode::kUnavailable, url + " does not answer",
                 [&] { Client(ServerAccess{.url = url}, kShort).ask({.path = "/health"}); });
  for (const char* wrong : {"", "localhost:8417", "ftp://localhost", "http://a b", "http://a\n"}) {
    expect_refused(ExitCode::kUsage, "is not the URL of a server",
                   [&] { Client(ServerAccess{.url = wrong}); });
  }
  expect_refused(ExitCode::kNoInput, "--server-ca",
                 [&] { Client(ServerAccess{.url = url, .ca = files / "none.pem"}); });
  expect_refused(ExitCode::kUsage, "control characters",
                 [&] { Client(ServerAccess{.url = url, .key = "a\r\nHost: b"}); });
}

// A server that speaks TLS, with a new certificate.
class TlsClientTest : public ClientTest {
 protected:
  void start_with(const testing::CertificateOptions& certificate) {
    options.tls_certificate = files / "certificate.pem";
    options.tls_key = files / "key.pem";
    testing::write_certificate(options.tls_certificate, options.tls_key, certificate);
    router = Router();
    add("/health", json_response(200, Json::object()));
    start();
  }
  void expect_distrusted(const std::string& text, const std::string& hint, std::string ca) const {
    const std::string url = fmt::format("https://localhost:{}", server->port());
    const auto ask = [&] {
      Client(ServerAccess{.url = url, .ca = ca}, kShort).ask({.path = "/health"});
    };
    expect_refused(ExitCode::kUnavailable, url + " is not trusted: its certificate " + text, ask);
    EXPECT_THAT(hum::testing::message_of(ask), HasSubstr(hint));
  }
};

TEST_F(TlsClientTest, SaysWhyACertificateIsNotTrusted) {
  const std::string ca = files / "certificate.pem";
  start_with({.from_s = -7200, .until_s = -3600});
  expect_distrusted("has expired", "renew it", ca);
  start_with({.from_s = 3600, .until_s = 7200});
  expect_distrusted("is not valid yet", "clock", ca);
  start_with({.name = "hum.example"});
  expect_distrusted("is for another name", "in --server", ca);
  start_with({});
  expect_distrusted("is signed by nobody", "--server-ca", "");
  const std::string other = files / "other.pem";
  testing::write_certificate(other, files / "unused.pem", {.name = "other.example"});
  expect_distrusted("is signed by nobody", "--server-ca", other);
}

TEST_F(TlsClientTest, SaysWhichProtocolThePortSpeaks) {
  start_with({});
  const std::string plain = fmt::format("http://localhost:{}", server->port());
  expect_refused(ExitCode::kUnavailable, "begin the address with https://",
                 [&] { Client(ServerAccess{.url = plain}, kShort).ask({.path = "/health"}); });
  options = ServerOptions();
  router = Router();
  start();
  const std::string tls = fmt::format("https://127.0.0.1:{}", server->port());
  expect_refused(ExitCode::kUnavailable, "begin --server with http://",
                 [&] { Client(ServerAccess{.url = tls}, kShort).ask({.path = "/health"}); });
}

TEST_F(ClientTest, StopsWhileItWaits) {
  add("/busy", problem(503, "busy"));
  start();
  std::stop_source stop;
  Client client(ServerAccess{.url = server->url()}, {}, stop.get_token());
  std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(200));
    stop.request_stop();
  });
  expect_refused(ExitCode::kFailure, "stopped", [&] { client.ask({.path = "/busy"}); });
}

}  // namespace
}  // namespace hum::serve

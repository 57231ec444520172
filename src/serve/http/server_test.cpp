// Requests and responses of the real server.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>

#include "base/files.h"
#include "base/hash.h"
#include "base/http.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/testing/mutation.h"
#include "base/testing/refusal.h"
#include "serve/http/test_client.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;
using testing::Answer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestClient;

// Answers with what it got.
Response echo(Request& request) {
  Json parts = Json::array();
  for (const Part& part : request.parts) {
    parts.push_back({{"name", part.name},
                     {"text", part.text},
                     {"bytes", part.size_bytes},
                     {"sha256", part.sha256}});
  }
  return json_response(200, {{"method", request.method},
                             {"route", request.route},
                             {"parameters", request.parameters},
                             {"body", request.body},
                             {"parts", parts},
                             {"peer", request.peer}});
}

class HttpServing : public testing::ServerTest {
 protected:
  HttpServing() {
    router.add("GET", "/", echo);
    router.add("GET", "/things/{id}", echo);
    router.add("POST", "/things", echo, {.body_bytes = 1000});
    router.add("POST", "/forms", echo,
               {.body_bytes = 1000, .form_bytes = 4 << 20, .file_parts = {"audio"}});
  }
};

Json json_of(const Answer& answer) { return try_parse_json(answer.body); }

std::string form_of(const std::string& audio) {
  return "--abc\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n{}\r\n"
         "--abc\r\nContent-Disposition: form-data; name=\"audio\"; filename=\"a.wav\"\r\n\r\n" +
         audio + "\r\n--abc--\r\n";
}
const std::string kFormType = "Content-Type: multipart/form-data; boundary=abc\r\n";

TEST_F(HttpServing, AnswersARequestSplitAnywhere) {
  start();
  const std::string request =
      "POST /things HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello";
  TestClient client(server->port());
  for (size_t i = 1; i < request.size(); ++i) {
    client.send(request.substr(0, i));
    std::this_thread::yield();
    client.send(request.substr(i));
    const Answer answer = client.read_answer();
    ASSERT_EQ(answer.status, 200) << "split at " << i;
    ASSERT_EQ(json_of(answer)["body"], "hello");
  }
  for (const char byte : request) {
    client.send(std::string(1, byte));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  EXPECT_EQ(json_of(client.read_answer())["body"], "hello");
  EXPECT_EQ(server->connections(), 1) << "all on one connection";
}

TEST_F(HttpServing, AnswersPipelinedRequestsInOrder) {
  start();
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += "GET /things/" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    requests +=
        "POST /things HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n" +
        std::to_string(10 + i) + "\r\n0\r\n\r\n";
  }
  TestClient client(server->port());
  client.send(requests);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(json_of(client.read_answer())["parameters"]["id"], std::to_string(i));
    EXPECT_EQ(json_of(client.read_answer())["body"], std::to_string(10 + i));
  }
}

TEST_F(HttpServing, AnswersHeadWithoutBody) {
  start();
  TestClient client(server->port());
  const Answer get = client.ask("GET", "/things/1");
  const Answer head = client.ask("HEAD", "/things/1");
  EXPECT_EQ(head.status, 200);
  // {"method":"HEAD"} is longer than {"method":"GET"} by one.
  EXPECT_EQ(head.headers.at("content-length"), std::to_string(get.body.size() + 1));
  EXPECT_EQ(client.ask("HEAD", "/nothing").status, 404);
  EXPECT_EQ(client.ask("GET", "/").status, 200) << "no body of HEAD is left in the connection";
}

TEST_F(HttpServing, RefusesUnknownPathsAndMethods) {
  start();
  TestClient client(server->port());
  const Answer missing = client.ask("GET", "/nothing");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(json_of(missing)["status"], 404);
  const Answer method = client.ask("PUT", "/things/1");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.headers.at("allow"), "GET, HEAD, OPTIONS");
  const Answer choices = client.ask("OPTIONS", "/things");
  EXPECT_EQ(choices.status, 204);
  EXPECT_EQ(choices.headers.at("allow"), "POST, OPTIONS");
  EXPECT_EQ(client.ask("GET", "/things/%2e%2e").status, 400);
  EXPECT_EQ(client.ask("GET", "/things/a%2Fb").status, 400);
  EXPECT_EQ(client.ask("GET", "/things/%C3%A9").status, 200);
}

TEST_F(HttpServing, TurnsWhatHandlersThrowIntoProblems) {
  router.add("GET", "/throws/{what}", [](Request& request) -> Response {
    const std::string what = request.parameter("what");
    if (what == "usage") fail(ExitCode::kUsage, "no preset flut", "did you mean flute?");
    if (what == "standard") throw std::runtime_error("secret");
    if (what == "other") throw 7;  // NOLINT(hicpp-exception-baseclass)
    return {};
  });
  start();
  TestClient client(server->port());
  const Answer usage = client.ask("GET", "/throws/usage");
  EXPECT_EQ(usage.status, 422);
  EXPECT_EQ(json_of(usage)["detail"], "no preset flut");
  EXPECT_EQ(json_of(usage)["hint"], "did you mean flute?");
  const Answer standard = client.ask("GET", "/throws/standard");
  EXPECT_EQ(standard.status, 500);
  EXPECT_THAT(standard.body, Not(HasSubstr("secret")));
  EXPECT_EQ(client.ask("GET", "/throws/other").status, 500);
  EXPECT_EQ(client.ask("GET", "/throws/nothing").status, 200) << "the connection still works";
}

TEST_F(HttpServing, ChecksHostAndOrigin) {
  start();
  TestClient client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 421);
  client.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 400);
  client.send("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 421);
  EXPECT_EQ(client.ask("POST", "/things", "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(client.ask("POST", "/things", "Origin: http://localhost\r\n").status, 200);
}

TEST_F(HttpServing, AnswersPagesOfListedOrigins) {
  options.cors_origins = {"https://app.example"};
  options.admit = [](const Request&) { return problem(401, "no key"); };
  start();
  TestClient client(server->port());
  const std::string origin = "Origin: https://app.example\r\n";
  const Answer question =
      client.ask("OPTIONS", "/things", origin + "Access-Control-Request-Method: POST\r\n");
  EXPECT_EQ(question.status, 204) << "browsers ask without a key";
  EXPECT_EQ(question.headers.at("access-control-allow-origin"), "https://app.example");
  EXPECT_THAT(question.headers.at("access-control-allow-methods"), HasSubstr("POST"));
  const Answer refused = client.ask("POST", "/things", origin);
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.headers.at("access-control-allow-origin"), "https://app.example");
  EXPECT_EQ(client.ask("POST", "/things", "Origin: https://evil.example\r\n").status, 403);
}

TEST_F(HttpServing, SendsSecurityHeadersWithEveryAnswer) {
  router.add("GET", "/own", [](Request&) {
    return Response{.headers = {{"Cache-Control", "max-age=60"}, {"X-Bad", "a\r\nSet-Cookie: b"}}};
  });
  start();
  TestClient client(server->port());
  for (const char* target : {"/", "/nothing"}) {
    const Answer answer = client.ask("GET", target);
    EXPECT_THAT(answer.headers.at("content-security-policy"), HasSubstr("default-src 'self'"));
    EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(answer.headers.at("referrer-policy"), "no-referrer");
    EXPECT_EQ(answer.headers.at("cache-control"), "no-store");
    EXPECT_FALSE(answer.headers.contains("access-control-allow-origin"));
  }
  const Answer own = client.ask("GET", "/own");
  EXPECT_EQ(own.headers.at("cache-control"), "max-age=60");
  EXPECT_FALSE(own.headers.contains("x-bad"));
  EXPECT_FALSE(own.headers.contains("set-cookie"));
}

TEST_F(HttpServing, AnswersOldClients) {
  start();
  TestClient client(server->port());
  client.send("GET / HTTP/1.0\r\n\r\n");
  const Answer answer = client.read_answer();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(client.wait_for_end());
}

TEST_F(HttpServing, AnswersUnchangedEtagsWithoutBody) {
  router.add("GET", "/page", [](Request&) {
    return Response{.content_type = "text/html", .body = "<p>", .headers = {{"ETag", "\"1\""}}};
  });
  start();
  TestClient client(server->port());
  EXPECT_EQ(client.ask("GET", "/page").body, "<p>");
  const Answer unchanged = client.ask("GET", "/page", "If-None-Match: \"1\"\r\n");
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.headers.at("etag"), "\"1\"");
  EXPECT_EQ(client.ask("GET", "/page", "If-None-Match: \"2\"\r\n").body, "<p>");
}

// ---- Bodies ----

TEST_F(HttpServing, TakesFormsWithFiles) {
  std::atomic<int> kept = 0;
  router.add("POST", "/keep",
             [&](Request& request) -> Response {
               Part* audio = request.part("audio");
               if (audio == nullptr) return problem(422, "no part 'audio'");
               audio->file.move_to(files / "kept");
               ++kept;
               return {.status = 204};
             },
             {.form_bytes = 4 << 20, .file_parts = {"audio"}});
  start();
  TestClient client(server->port());
  std::string audio(3 << 20, '\0');
  for (size_t i = 0; i < audio.size(); ++i) audio[i] = static_cast<char>(i * i >> 7);
  const Answer answer = client.ask("POST", "/forms", kFormType, form_of(audio));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json parts = json_of(answer)["parts"];
  EXPECT_EQ(parts[0]["text"], "{}");
  EXPECT_EQ(parts[1]["bytes"], audio.size());
  EXPECT_EQ(parts[1]["sha256"], sha256(audio));
  EXPECT_TRUE(fs::is_empty(spool.path())) << "the upload outlives its request";

  EXPECT_EQ(client.ask("POST", "/keep", kFormType, form_of(audio)).status, 204);
  EXPECT_EQ(read_file(files / "kept"), audio);
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(client.ask("POST", "/keep", kFormType, "--abc--").status, 422);
}

TEST_F(HttpServing, RefusesBodiesThatAreTooLarge) {
  start();
  const std::string large(2000, 'x');
  EXPECT_EQ(ask("POST", "/things", "", large).status, 413);
  // Without its length, and while the client still sends.
  TestClient chunked(server->port());
  chunked.send("POST /things HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  chunked.send("7d0\r\n" + large + "\r\n");
  EXPECT_EQ(chunked.read_answer().status, 413);
  // A client that sends everything before it reads gets the answer.
  TestClient eager(server->port());
  eager.send("POST /forms HTTP/1.1\r\nHost: localhost\r\n" + kFormType +
             "Content-Length: 20000000\r\n\r\n");
  EXPECT_TRUE(eager.send(std::string(20'000'000, 'x')));
  const Answer answer = eager.read_answer();
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_THAT(json_of(answer)["detail"].get<std::string>(), HasSubstr("larger than"));
}

TEST_F(HttpServing, RefusesMalformedBodies) {
  start();
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::tuple<std::string, std::string, std::string, int> cases[] = {
      {"/things", chunked, "zz\r\n", 400},
      {"/things", chunked, "3\r\nhello\r\n0\r\n\r\n", 400},
      {"/things", "Transfer-Encoding: gzip\r\n", "", 501},
      {"/things", chunked + "Content-Length: 3\r\n", "abc", 400},
      {"/things", "Content-Length: 1\r\nContent-Length: 2\r\n", "", 400},
      {"/things", "Expect: a-miracle\r\nContent-Length: 1\r\n", "x", 417},
      {"/things", kFormType + "Content-Length: 1\r\n", "x", 415},
      {"/forms", "Content-Type: multipart/form-data\r\nContent-Length: 1\r\n", "x", 400},
      {"/forms", kFormType + "Content-Length: 7\r\n", "no form", 400},
      {"/forms", kFormType + chunked, "5\r\n--abc\r\n0\r\n\r\n", 400},
  };
  for (const auto& [target, headers, body, status] : cases) {
    TestClient client(server->port());
    client.send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body);
    EXPECT_EQ(client.read_answer().status, status) << headers << body;
  }
  TestClient endless(server->port());  // a chunk's extension without end
  endless.send("POST /things HTTP/1.1\r\nHost: localhost\r\n" + chunked + "\r\n1;" +
               std::string(200'000, 'x'));
  EXPECT_EQ(endless.read_answer().status, 400);
}

TEST_F(HttpServing, RefusesTruncatedBodies) {
  start();
  for (const char* request :
       {"POST /things HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhello",
        "POST /things HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"}) {
    TestClient client(server->port());
    client.send(request);
    shutdown(client.descriptor(), SHUT_WR);
    EXPECT_EQ(client.read_answer().status, 400);
  }
}

TEST_F(HttpServing, AsksForABodyThatWaits) {
  std::atomic<bool> admits = true;
  options.admit = [&](const Request&) -> std::optional<Response> {
    if (admits) return std::nullopt;
    return problem(401, "no key");
  };
  start();
  const std::string head =
      "POST /things HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: "
      "100-continue\r\n\r\n";
  TestClient client(server->port());
  client.send(head);
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  EXPECT_EQ(json_of(client.read_answer())["body"], "hello");
  admits = false;
  client.send(head);
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("401 Unauthorized"))
      << "the body is not asked for";
}

TEST_F(HttpServing, RemovesTheFilesOfAClientThatDisappears) {
  start();
  {
    TestClient client(server->port());
    client.send("POST /forms HTTP/1.1\r\nHost: localhost\r\n" + kFormType +
                "Content-Length: 1000000\r\n\r\n" +
                form_of(std::string(300'000, 'x')).substr(0, 300'000));
    ASSERT_TRUE(eventually([&] { return !fs::is_empty(spool.path()); }));
  }
  EXPECT_TRUE(eventually([&] { return fs::is_empty(spool.path()); }));
  EXPECT_TRUE(eventually([&] { return server->connections() == 0; }));
}

// ---- Files ----

TEST_F(HttpServing, SendsFilesAndTheirParts) {
  std::string content(1'000'000, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i % 251);
  write_file(files / "a.wav", content);
  router.add("GET", "/a.wav", [this](Request&) {
    return Response{.content_type = "audio/wav",
                    .body = FileBody{.path = files / "a.wav", .etag = ""}};
  });
  router.add("GET", "/gone", [this](Request&) {
    return Response{.body = FileBody{.path = files / "gone", .etag = ""}};
  });
  start();
  const auto fetch = [&](const std::vector<std::string>& headers,
                         const std::string& method = "GET") {
    return send_http({.method = method, .url = server->url() + "/a.wav", .headers = headers});
  };
  const HttpAnswer whole = fetch({});
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.body, content);
  EXPECT_EQ(whole.headers.at("content-type"), "audio/wav");
  EXPECT_EQ(whole.headers.at("accept-ranges"), "bytes");
  const std::string etag = whole.headers.at("etag");

  const HttpAnswer part = fetch({"Range: bytes=10-19"});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, content.substr(10, 10));
  EXPECT_EQ(part.headers.at("content-range"), "bytes 10-19/1000000");
  EXPECT_EQ(fetch({"Range: bytes=-5"}).body, content.substr(content.size() - 5));
  EXPECT_EQ(fetch({"Range: bytes=200000-"}).body, content.substr(200'000));
  EXPECT_EQ(fetch({"Range: bytes=0-1,4-5"}).body, content) << "several ranges";
  EXPECT_EQ(fetch({"Range: bytes=0-1", "If-Range: " + etag}).status, 206);
  EXPECT_EQ(fetch({"Range: bytes=0-1", "If-Range: \"old\""}).status, 200);
  const HttpAnswer beyond = fetch({"Range: bytes=1000000-"});
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.headers.at("content-range"), "bytes */1000000");
  const HttpAnswer unchanged = fetch({"If-None-Match: " + etag});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.body, "");
  const HttpAnswer head = fetch({}, "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"), "1000000");

  write_file(files / "a.wav", "");
  const HttpAnswer empty = fetch({"If-None-Match: " + etag});
  EXPECT_EQ(empty.status, 200) << "a new file has another ETag";
  EXPECT_EQ(empty.body, "");
  EXPECT_EQ(ask("GET", "/gone").status, 404);
}

// ---- The process ----

TEST_F(HttpServing, ReportsEachExchange) {
  std::mutex mutex;
  std::vector<Exchange> exchanges;
  options.finished = [&](const Exchange& exchange) {
    const std::lock_guard lock(mutex);
    exchanges.push_back(exchange);
  };
  start();
  TestClient client(server->port());
  client.ask("POST", "/things", "", "hello");
  client.ask("BREW", "/secret-path");
  server.reset();
  ASSERT_EQ(exchanges.size(), 2U);
  EXPECT_EQ(exchanges[0].route, "/things");
  EXPECT_EQ(exchanges[0].status, 200);
  EXPECT_EQ(exchanges[0].received_bytes, 5);
  EXPECT_GT(exchanges[0].sent_bytes, 10);
  EXPECT_TRUE(exchanges[0].complete);
  EXPECT_EQ(exchanges[1].method, "other");
  EXPECT_EQ(exchanges[1].route, "");
  EXPECT_EQ(exchanges[1].status, 404);
}

TEST_F(HttpServing, HandsNoSocketToChildProcesses) {
  start();
  TestClient client(server->port());
  ASSERT_EQ(client.ask("GET", "/").status, 200);
  FILE* child = popen("ls -l /proc/self/fd | grep -c socket:", "r");
  ASSERT_NE(child, nullptr);
  int sockets = -1;
  EXPECT_EQ(fscanf(child, "%d", &sockets), 1);
  pclose(child);
  EXPECT_EQ(sockets, 0);
}

TEST_F(HttpServing, SaysWhyItCannotListen) {
  start();
  const auto code = [](ServerOptions wanted) {
    return hum::testing::code_of([&] { HttpServer(std::move(wanted), Router()); });
  };
  EXPECT_EQ(code({.port = server->port()}), ExitCode::kUnavailable);
  EXPECT_EQ(hum::testing::code_of([&] { ListeningSocket("127.0.0.1", server->port()); }),
            ExitCode::kUnavailable);
  EXPECT_EQ(code({.address = "example.org"}), ExitCode::kUsage);
  EXPECT_EQ(code({.address = "192.0.2.1"}), ExitCode::kUsage);
  EXPECT_EQ(code({.tls_certificate = files / "none.pem", .tls_key = files / "none.pem"}),
            ExitCode::kNoInput);
  EXPECT_EQ(server->url(), "http://127.0.0.1:" + std::to_string(server->port()));
}

TEST_F(HttpServing, AnswersThoseWhoConnectedBeforeItWasThere) {
  ListeningSocket socket("127.0.0.1", 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  const int descriptor = socket.release();
  ASSERT_EQ(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int port = ntohs(address.sin_port);
  ::close(descriptor);

  ListeningSocket again("127.0.0.1", port);
  TestClient client(port);
  ASSERT_TRUE(client.connected());
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const HttpServer late({.port = port, .spool_folder = spool.path()}, std::move(router),
                        std::move(again));
  EXPECT_EQ(late.port(), port);
  EXPECT_EQ(client.read_answer().status, 200);
}

// A request is answered or its connection ends; the server goes on.
TEST_F(HttpServing, SurvivesDamagedRequests) {
  options.header_timeout = std::chrono::milliseconds(20);
  options.body_grace = std::chrono::milliseconds(20);
  options.idle_timeout = std::chrono::milliseconds(50);
  start();
  const std::string form = form_of("RIFF....WAVE");
  const std::string seeds[] = {
      "GET /things/a%20b?x=1 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-1\r\nCookie: "
      "a=b\r\n\r\n",
      "POST /things HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "POST /forms HTTP/1.1\r\nHost: localhost\r\n" + kFormType +
          "Content-Length: " + std::to_string(form.size()) + "\r\n\r\n" + form};
  Rng rng(1, "server");
  for (int i = 0; i < 300; ++i) {
    const std::string request = mutation::damaged(seeds[i % 3], rng);
    TestClient client(server->port());
    client.send(request);
    const int status = client.read_answer(true).status;
    EXPECT_TRUE(status < 500 || status == 501 || status == 505) << status << " for " << request;
  }
  EXPECT_EQ(ask("GET", "/").status, 200);
  EXPECT_TRUE(eventually([&] { return fs::is_empty(spool.path()); }));
}

}  // namespace
}  // namespace hum::serve

// The parts of the HTTP layer that need no socket.
#include "serve/http/http.h"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "serve/http/access.h"
#include "serve/http/body_reader.h"
#include "serve/http/conditions.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Target, IsSplitAndDecoded) {
  const auto target = parse_target("/v1/jobs/a%20b/?limit=2&q=x+y%26&&flag");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/v1/jobs/a%20b/");
  EXPECT_THAT(target->segments, ElementsAre("v1", "jobs", "a b", ""));
  EXPECT_THAT(target->query, ElementsAre(Pair("limit", "2"), Pair("q", "x y&"), Pair("flag", "")));
  EXPECT_THAT(parse_target("/")->segments, IsEmpty());
  const auto absolute = parse_target("http://localhost:80?a=1");
  ASSERT_TRUE(absolute);
  EXPECT_EQ(absolute->authority, "localhost:80");
  EXPECT_EQ(absolute->path, "/");
}

TEST(Target, RefusesWhatCouldMislead) {
  for (const std::string_view text :
       {"",        "*",      "a",       "/%",           "/%4",  "/%zz",
        "/a%2fb",  "/a%5Cb", "/..",     "/a/%2e%2e/b",  "/.",   "/%00",
        "/a%0a",   "/%ff",   "/%c0%af", "/%ed%a0%80",   "/a#b", "ftp://a/",
        "http://", "/?a=%",  "/?%00=1", "/?a=%0d%0aX:1"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

Response answer(Request&) { return {}; }

TEST(Addresses, AreRecognized) {
  for (const char* address : {"127.0.0.1", "::1", "10.0.0.7", "fe80::1"}) {
    EXPECT_TRUE(is_ip_address(address)) << address;
  }
  for (const char* other : {"", "localhost", "10.0.0", "10.0.0.7:80", "[::1]"}) {
    EXPECT_FALSE(is_ip_address(other)) << other;
  }
}

TEST(Router, PrefersFixedSegmentsAndReadsNames) {
  Router router;
  router.add("GET", "/v1/jobs/{id}", answer);
  router.add("DELETE", "/v1/jobs/{id}", answer);
  router.add("GET", "/v1/jobs/new", answer);
  router.add("GET", "/", answer);
  router.add("POST", "/v1/jobs/{id}/results/{name}", answer);

  const auto job = router.match("GET", {"v1", "jobs", "7"});
  ASSERT_NE(job.route, nullptr);
  EXPECT_EQ(job.route->pattern, "/v1/jobs/{id}");
  EXPECT_THAT(job.parameters, ElementsAre(Pair("id", "7")));
  EXPECT_EQ(job.allow, "GET, HEAD, DELETE, OPTIONS");
  EXPECT_EQ(router.match("HEAD", {"v1", "jobs", "7"}).route, job.route);
  EXPECT_EQ(router.match("GET", {"v1", "jobs", "new"}).route->pattern, "/v1/jobs/new");
  EXPECT_EQ(router.match("GET", {}).route->pattern, "/");
  EXPECT_THAT(router.match("POST", {"v1", "jobs", "7", "results", "a.wav"}).parameters,
              ElementsAre(Pair("id", "7"), Pair("name", "a.wav")));

  const auto wrong_method = router.match("PUT", {"v1", "jobs", "7"});
  EXPECT_EQ(wrong_method.route, nullptr);
  EXPECT_EQ(wrong_method.allow, "GET, HEAD, DELETE, OPTIONS");
  EXPECT_EQ(router.match("GET", {"v1", "jobs", ""}).allow, "");
  EXPECT_EQ(router.match("GET", {"v1"}).allow, "");
}

TEST(Router, RefusesTheSameRouteTwice) {
  Router router;
  router.add("GET", "/a/{x}", answer);
  EXPECT_THROW(router.add("GET", "/a/{y}", answer), Error);
  EXPECT_THROW(router.add("GET", "a", answer), Error);
}

TEST(EventStream, KeepsTheNewestAndResumes) {
  EventStream events(3);
  for (int i = 1; i <= 5; ++i) {
    events.push({.id = std::to_string(i), .event = "progress", .data = std::to_string(10 * i)});
  }
  const auto all = events.read(events.position_after(""), 1000);
  EXPECT_EQ(all.frames,
            "id: 3\nevent: progress\ndata: 30\n\nid: 4\nevent: progress\ndata: 40\n\n"
            "id: 5\nevent: progress\ndata: 50\n\n");
  EXPECT_FALSE(all.end);
  EXPECT_EQ(events.read(events.position_after("4"), 1000).frames,
            "id: 5\nevent: progress\ndata: 50\n\n");
  EXPECT_EQ(events.read(events.position_after("1"), 1000).frames, all.frames)
      << "an id that is no longer kept";
  EXPECT_EQ(events.read(0, 1000).frames, all.frames) << "a reader that is too slow";
  EXPECT_EQ(events.read(all.next, 1000).frames, "");

  const auto first = events.read(events.position_after(""), 10);
  EXPECT_EQ(first.frames, "id: 3\nevent: progress\ndata: 30\n\n") << "at least one frame";
  events.close();
  EXPECT_FALSE(events.read(first.next, 10).end);
  EXPECT_TRUE(events.read(all.next, 10).end);
  events.push({.id = "6", .event = "", .data = "late"});
  EXPECT_EQ(events.read(all.next, 1000).frames, "");
}

TEST(EventStream, WritesSeveralLines) {
  EventStream events;
  events.push({.id = "", .event = "", .data = "a\nb\r\nc\rd\n"});
  EXPECT_EQ(events.read(0, 1000).frames, "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
  EXPECT_THROW(events.push({.id = "1\n2", .event = "", .data = ""}), Error);
  EXPECT_THROW(events.push({.id = "1", .event = "a\rb", .data = ""}), Error);
}

TEST(Signal, CallsOnlyLiveSubscribers) {
  Signal signal;
  int calls = 0;
  auto first = signal.subscribe([&] { ++calls; });
  const auto second = signal.subscribe([&] { ++calls; });
  signal.notify();
  EXPECT_EQ(calls, 2);
  first.reset();
  signal.notify();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(signal.subscribers(), 1);
}

TEST(Problem, LogsWhatOperatorsNeed) {
  std::ostringstream log;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  problem(Error(ExitCode::kCannotCreate, "records.sqlite cannot be used: the disk is full", ""));
  spdlog::set_default_logger(before);
  EXPECT_THAT(log.str(), HasSubstr("the disk is full"));
  EXPECT_THAT(log.str(), ::testing::Not(HasSubstr(".cpp"))) << "no place in the source";
}

TEST(Problem, HasAStatusForEachCode) {
  const std::pair<ExitCode, int> cases[] = {
      {ExitCode::kUsage, 422},        {ExitCode::kBadData, 422},   {ExitCode::kNoInput, 404},
      {ExitCode::kUnavailable, 503},  {ExitCode::kTemporary, 503}, {ExitCode::kNoPermission, 403},
      {ExitCode::kCannotCreate, 507}, {ExitCode::kFailure, 500},   {ExitCode::kConfig, 500}};
  for (const auto& [code, status] : cases) {
    const Response response = problem(Error(code, "what /secret/path", "do this"));
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(response.content_type, "application/problem+json");
    const Json body = parse_json(std::get<std::string>(response.body));
    EXPECT_EQ(body["status"], status);
    EXPECT_EQ(body["title"], std::string(status_text(status)));
    EXPECT_EQ(response.headers.contains("Retry-After"), status == 503);
    if (status >= 500 && status != 503) {
      EXPECT_THAT(std::get<std::string>(response.body), Not(HasSubstr("secret")));
    } else {
      EXPECT_EQ(body["detail"], "what /secret/path");
      EXPECT_EQ(body["hint"], "do this");
    }
  }
  const Response usual = problem(Error(ExitCode::kNoInput, "no such job", ""));
  EXPECT_FALSE(parse_json(std::get<std::string>(usual.body)).contains("hint"));
}

Request get(Headers headers, std::string method = "GET") {
  Request request;
  request.method = std::move(method);
  request.headers = std::move(headers);
  return request;
}

TEST(SelectBytes, FollowsRangeAndConditions) {
  constexpr std::string_view kTag = "\"t\"", kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
  struct Case {
    Headers headers;
    int status;
    int64_t first, bytes;
  };
  const std::string date(kDate);
  const Case cases[] = {
      {{}, 200, 0, 100},
      {{{"Range", "bytes=0-0"}}, 206, 0, 1},
      {{{"range", "Bytes = 10-19"}}, 206, 10, 10},
      {{{"Range", "bytes=90-"}}, 206, 90, 10},
      {{{"Range", "bytes=90-1000"}}, 206, 90, 10},
      {{{"Range", "bytes=0-99999999999999999999"}}, 206, 0, 100},
      {{{"Range", "bytes=-7"}}, 206, 93, 7},
      {{{"Range", "bytes=-700"}}, 206, 0, 100},
      {{{"Range", "bytes=-0"}}, 416, 0, 0},
      {{{"Range", "bytes=100-"}}, 416, 0, 0},
      {{{"Range", "bytes=99999999999999999999-"}}, 416, 0, 0},
      {{{"Range", "bytes=0-1,5-6"}}, 200, 0, 100},
      {{{"Range", "bytes=5-4"}}, 200, 0, 100},
      {{{"Range", "bytes=-"}}, 200, 0, 100},
      {{{"Range", "bytes=a-b"}}, 200, 0, 100},
      {{{"Range", "bytes=--5"}}, 200, 0, 100},
      {{{"Range", "bytes=1-+5"}}, 200, 0, 100},
      {{{"Range", "lines=0-1"}}, 200, 0, 100},
      {{{"Range", "bytes"}}, 200, 0, 100},
      {{{"Range", "bytes=0-9"}, {"If-Range", "\"t\""}}, 206, 0, 10},
      {{{"Range", "bytes=0-9"}, {"If-Range", date}}, 206, 0, 10},
      {{{"Range", "bytes=0-9"}, {"If-Range", "\"other\""}}, 200, 0, 100},
      {{{"Range", "bytes=0-9"}, {"If-Range", "W/\"t\""}}, 200, 0, 100},
      {{{"If-None-Match", "\"a\", W/\"t\""}}, 304, 0, 0},
      {{{"If-None-Match", "*"}}, 304, 0, 0},
      {{{"If-None-Match", "\"a\""}, {"If-Modified-Since", date}}, 200, 0, 100},
      {{{"If-Modified-Since", date}}, 304, 0, 0},
      {{{"If-Match", "\"a\""}}, 412, 0, 0},
      {{{"If-Match", "\"a\", \"t\""}}, 200, 0, 100},
      {{{"If-Match", "*"}, {"Range", "bytes=1-1"}}, 206, 1, 1},
  };
  for (const Case& c : cases) {
    const Selection selection = select_bytes(get(c.headers), 100, kTag, kDate);
    const auto& fields = c.headers.fields();
    const std::string text = fields.empty() ? "" : fields[0].first + ": " + fields[0].second;
    EXPECT_EQ(selection.status, c.status) << text;
    EXPECT_EQ(selection.first, c.first) << text;
    EXPECT_EQ(selection.bytes, c.bytes) << text;
  }
  const Headers range = {{"Range", "bytes=0-0"}};
  EXPECT_EQ(select_bytes(get(range, "HEAD"), 100, kTag, kDate).status, 200);
  EXPECT_EQ(select_bytes(get(range), 0, kTag, kDate).status, 416) << "an empty file";
  EXPECT_EQ(http_date(784111777), kDate);
}

RequestHead head_of(std::string method, Headers headers) {
  RequestHead head;
  head.method = std::move(method);
  head.headers = std::move(headers);
  return head;
}

int status_for(const std::string& method, Headers headers, std::string_view authority = "",
               bool is_secure = false) {
  const auto refusal = check_origin(head_of(method, std::move(headers)),
                                    {authority, "10.0.0.5", is_secure}, {"Hum.example"});
  return refusal ? refusal->status : 200;
}

TEST(CheckOrigin, AcceptsOnlyKnownHosts) {
  for (const char* host : {"localhost", "LOCALHOST:8417", "127.0.0.1:1", "[::1]:8417", "[::1]",
                           "10.0.0.5:99", "hum.example", "hum.EXAMPLE.:443"}) {
    EXPECT_EQ(status_for("GET", {{"Host", host}}), 200) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "10.0.0.6", "[::2]", "evil.example:8417"}) {
    EXPECT_EQ(status_for("GET", {{"Host", host}}), 421) << host;
  }
  for (const char* host : {"", "localhost:x", "[::1", "a/b", "user@localhost", "[::1]x"}) {
    EXPECT_EQ(status_for("GET", {{"Host", host}}), 400) << host;
  }
  EXPECT_EQ(status_for("GET", {}), 400);
  EXPECT_EQ(status_for("GET", {{"Host", "localhost"}, {"Host", "localhost"}}), 400);
  EXPECT_EQ(status_for("GET", {{"Host", "localhost"}}, "evil.example"), 421)
      << "an absolute target wins";
  RequestHead old = head_of("GET", {});
  old.http_11 = false;
  EXPECT_FALSE(check_origin(old, {.local_address = "127.0.0.1"}, {}));
}

TEST(CheckOrigin, RefusesPagesWithoutTlsOverTls) {
  const auto status = [](const char* origin, bool is_secure) {
    return status_for("POST", {{"Host", "localhost:8417"}, {"Origin", origin}}, "", is_secure);
  };
  EXPECT_EQ(status("https://localhost:8417", true), 200);
  EXPECT_EQ(status("http://localhost:8417", true), 403);
  EXPECT_EQ(status(" http://localhost:8417", true), 403);
  EXPECT_EQ(status("http://localhost:8417", false), 200);
  EXPECT_EQ(status("https://localhost:8417", false), 200) << "a proxy may speak TLS";
}

TEST(CheckOrigin, RefusesChangesByOtherPages) {
  const auto status = [](const char* method, const char* origin) {
    return status_for(method, {{"Host", "localhost:8417"}, {"Origin", origin}});
  };
  EXPECT_EQ(status("POST", "http://localhost:8417"), 200);
  EXPECT_EQ(status("POST", "https://LOCALHOST:8417"), 200);
  for (const char* origin : {"http://localhost:3000", "http://localhost", "http://evil.example",
                             "null", "", "file://", "http://localhost:8417.evil.example"}) {
    EXPECT_EQ(status("POST", origin), 403) << origin;
    EXPECT_EQ(status("DELETE", origin), 403) << origin;
    EXPECT_EQ(status("GET", origin), 200) << origin;
  }
  EXPECT_EQ(status_for("POST", {{"Host", "localhost:80"}, {"Origin", "http://localhost"}}), 200);
  EXPECT_EQ(status_for("POST", {{"Host", "localhost"}, {"Origin", "https://localhost:443"}}), 200);
  EXPECT_EQ(status_for("POST", {{"Host", "localhost"}}), 200) << "no browser";
  EXPECT_EQ(status_for("POST", {{"Host", "localhost"}, {"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(status_for("POST", {{"Host", "localhost"}, {"Sec-Fetch-Site", "same-origin"}}), 200);
}

TEST(CheckSite, RefusesPagesOfOtherOrigins) {
  for (const char* method : {"GET", "HEAD", "POST"}) {
    EXPECT_FALSE(check_site(head_of(method, {}))) << "no browser";
    EXPECT_FALSE(check_site(head_of(method, {{"Sec-Fetch-Site", "same-origin"}})));
    EXPECT_FALSE(check_site(head_of(method, {{"Sec-Fetch-Site", "none"}})));
    for (const char* site : {"cross-site", "same-site", ""}) {
      const auto refusal = check_site(head_of(method, {{"Sec-Fetch-Site", site}}));
      ASSERT_TRUE(refusal) << site;
      EXPECT_EQ(refusal->status, 403);
    }
  }
}

TEST(Cors, LetsPagesOfListedOriginsIn) {
  const std::vector<std::string> origins = {"https://app.example"};
  const auto status = [&](const char* origin) {
    const auto refusal = check_origin(
        head_of("POST",
                {{"Host", "localhost"}, {"Origin", origin}, {"Sec-Fetch-Site", "cross-site"}}),
        {.local_address = "127.0.0.1"}, {}, origins);
    return refusal ? refusal->status : 200;
  };
  EXPECT_EQ(status("https://app.example"), 200);
  for (const char* origin :
       {"http://app.example", "https://app.example:444", "https://evil.example", "null", ""}) {
    EXPECT_EQ(status(origin), 403) << origin;
  }
  const auto headers_for = [&](const Headers& request, const std::vector<std::string>& listed) {
    Headers response = {{"Allow", "GET, POST"}};
    add_cors_headers(response, request, listed);
    return response;
  };
  const Headers page = {{"Origin", "https://app.example"}};
  EXPECT_EQ(headers_for(page, origins).get("access-control-allow-origin"), "https://app.example");
  EXPECT_EQ(headers_for(page, origins).get("vary"), "Origin");
  EXPECT_FALSE(headers_for(page, origins).contains("access-control-allow-credentials"));
  EXPECT_FALSE(headers_for(page, origins).contains("access-control-allow-methods"));
  EXPECT_FALSE(headers_for(page, {}).contains("access-control-allow-origin"));
  const Headers other = {{"Origin", "https://evil.example"}};
  EXPECT_FALSE(headers_for(other, origins).contains("access-control-allow-origin"));
  EXPECT_EQ(headers_for(other, origins).get("vary"), "Origin") << "caches must not mix them";
  const Headers question = {{"Origin", "https://app.example"},
                            {"Access-Control-Request-Method", "POST"}};
  EXPECT_EQ(headers_for(question, origins).get("access-control-allow-methods"), "GET, POST");
  EXPECT_THAT(std::string(headers_for(question, origins).get("access-control-allow-headers")),
              HasSubstr("Authorization"));
}

TEST(ClientAddress, BelievesListedProxiesOnly) {
  const std::vector<std::string> proxies = {"10.0.0.1", "10.0.0.2"};
  const Headers headers = {{"X-Forwarded-For", "6.6.6.6, 1.2.3.4"},
                           {"X-Forwarded-For", "10.0.0.2"}};
  EXPECT_EQ(client_address("10.0.0.1", headers, proxies), "1.2.3.4");
  EXPECT_EQ(client_address("10.0.0.3", headers, proxies), "10.0.0.3");
  EXPECT_EQ(client_address("10.0.0.1", {}, proxies), "10.0.0.1");
  for (const char* other : {"<script>", "unknown", "1.2.3", "1.2.3.4:80", "a%0ab"}) {
    const Headers wrong = {{"X-Forwarded-For", other}};
    EXPECT_EQ(client_address("10.0.0.1", wrong, proxies), "10.0.0.1") << other;
  }
  EXPECT_EQ(client_address("10.0.0.1", {{"X-Forwarded-For", "fe80::1"}}, proxies), "fe80::1");
}

TEST(Request, FindsCookiesQueriesAndParts) {
  Request request = get({{"Cookie", "a=1; session=x=y"}, {"cookie", "b=2"}});
  EXPECT_EQ(request.cookie("session"), "x=y");
  EXPECT_EQ(request.cookie("b"), "2");
  EXPECT_EQ(request.cookie("c"), std::nullopt);
  request.query = {{"a", "1"}, {"a", "2"}};
  EXPECT_EQ(request.query_value("a"), "1");
  EXPECT_EQ(request.query_value("b"), std::nullopt);
  EXPECT_EQ(request.part("audio"), nullptr);
  EXPECT_THROW(static_cast<void>(request.parameter("id")), Error);
}

TEST(SpooledFile, IsRemovedUnlessMoved) {
  const ScratchFolder folder;
  const fs::path first = folder / "first", second = folder / "second";
  write_file(first, "a");
  {
    SpooledFile file(first);
    SpooledFile moved = std::move(file);
    EXPECT_EQ(moved.path(), first);
    EXPECT_TRUE(file.empty());  // NOLINT(bugprone-use-after-move): that is the test
    EXPECT_THROW(moved.move_to(folder / "no/such/folder"), Error);
  }
  EXPECT_FALSE(fs::exists(first));
  write_file(first, "b");
  SpooledFile(first).move_to(second);
  EXPECT_EQ(read_file(second), "b");
}

// ---- Bodies ----

RequestHead form_head() {
  RequestHead head = head_of("POST", {{"Content-Type", "multipart/form-data; boundary=abc"}});
  head.has_body = true;
  return head;
}

std::string part(const std::string& name, const std::string& content) {
  return "--abc\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + content +
         "\r\n";
}

const RouteLimits kLimits = {.body_bytes = 20, .form_bytes = 1000, .file_parts = {"audio"}};

TEST(BodyReader, SpoolsFilesAndKeepsText) {
  const ScratchFolder folder;
  Request request;
  {
    BodyReader reader(kLimits, folder.path());
    ASSERT_FALSE(reader.begin(form_head()));
    ASSERT_FALSE(reader.feed(part("options", "{}") + part("audio", "RIFF") + "--abc--"));
    ASSERT_FALSE(reader.finish(request));
  }
  ASSERT_EQ(request.parts.size(), 2U);
  EXPECT_EQ(request.part("options")->text, "{}");
  Part* audio = request.part("audio");
  ASSERT_NE(audio, nullptr);
  EXPECT_EQ(audio->text, "");
  EXPECT_EQ(audio->size_bytes, 4);
  EXPECT_EQ(audio->sha256, sha256("RIFF"));
  EXPECT_EQ(read_file(audio->file.path()), "RIFF");
  EXPECT_EQ(audio->file.path().parent_path(), folder.path());
  request.parts.clear();
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

int refusal_of(const std::string& form, const RouteLimits& limits = kLimits) {
  const ScratchFolder folder;
  int status = 0;
  {
    BodyReader reader(limits, folder.path());
    Request request;
    auto refusal = reader.begin(form_head());
    if (!refusal) refusal = reader.feed(form);
    if (!refusal) refusal = reader.finish(request);
    status = refusal ? refusal->status : 0;
  }
  EXPECT_TRUE(fs::is_empty(folder.path())) << "a file is left over";
  return status;
}

TEST(BodyReader, RefusesWhatIsTooMuchAndLeavesNothing) {
  const std::string end = "--abc--\r\n";
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + end), 0);
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + part("audio", "RIFF") + end), 400);
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + "--abc"), 400);
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + "--abcx"), 400);
  EXPECT_EQ(refusal_of(part("audio", std::string(1000, 'x')) + end), 413);
  const RouteLimits small_files = {
      .form_bytes = 1000, .file_parts = {"audio", "backing"}, .file_bytes = 4};
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + part("backing", "RIFF") + end, small_files), 0);
  EXPECT_EQ(refusal_of(part("audio", "RIFFx") + end, small_files), 413);
  EXPECT_EQ(refusal_of(part("a", std::string(11, 'x')) + part("b", std::string(11, 'x')) + end),
            413);
  std::string many;
  for (int i = 0; i < 33; ++i) many += part(std::to_string(i), "");
  EXPECT_EQ(refusal_of(many + end, {.body_bytes = 20, .form_bytes = 100'000}), 413);
  EXPECT_EQ(refusal_of(part("audio", "RIFF") + end, {}), 415);
}

TEST(BodyReader, LooksAtTheHeadFirst) {
  RequestHead head = form_head();
  head.content_length = 1001;
  EXPECT_EQ(BodyReader(kLimits, "").begin(head)->status, 413);
  head.content_length = 10;
  head.headers.set("content-type", "multipart/form-data");
  EXPECT_EQ(BodyReader(kLimits, "").begin(head)->status, 400);
  head.headers.set("content-type", "application/json");
  head.content_length = 21;
  EXPECT_EQ(BodyReader(kLimits, "").begin(head)->status, 413);
  BodyReader reader(kLimits, "");
  head.content_length = 20;
  ASSERT_FALSE(reader.begin(head));
  ASSERT_FALSE(reader.feed(std::string(20, ' ')));
  EXPECT_EQ(reader.feed(" ")->status, 413);
}

TEST(BodyReader, SaysWhatToSendInPlaceOfAnotherPartOrType) {
  const RouteLimits limits = {.body_bytes = 20,
                              .form_bytes = 1000,
                              .file_parts = {"audio"},
                              .text_parts = std::vector<std::string>{"options"},
                              .media_types = {"multipart/form-data", "application/json"},
                              .hint = "send audio"};
  const ScratchFolder folder;
  const auto refusal_of_part = [&](const std::string& name) {
    BodyReader reader(limits, folder.path());
    EXPECT_FALSE(reader.begin(form_head()));
    return reader.feed(part(name, std::string(500, 'x')));
  };
  EXPECT_FALSE(refusal_of_part("audio"));
  const auto other = refusal_of_part("file");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->status, 422) << "not 413";
  EXPECT_EQ(other->detail, "there is no part 'file'; the parts are audio, options");
  EXPECT_EQ(other->hint, "send audio");
  const auto misspelt = refusal_of_part("audios");
  ASSERT_TRUE(misspelt);
  EXPECT_EQ(misspelt->hint, "did you mean 'audio'? send audio");
  EXPECT_TRUE(fs::is_empty(folder.path()));

  RequestHead raw = form_head();
  raw.content_length = 1'000'000;
  for (const char* type : {"audio/wav", "", "application/x-www-form-urlencoded", "text/json"}) {
    raw.headers.set("content-type", type);
    const auto refusal = BodyReader(limits, "").begin(raw);
    ASSERT_TRUE(refusal) << type;
    EXPECT_EQ(refusal->status, 415) << "not 413";
    EXPECT_EQ(refusal->detail, "the body is not multipart/form-data or application/json");
    EXPECT_EQ(refusal->hint, "send audio");
  }
  raw.content_length = 20;
  raw.headers.set("content-type", "Application/JSON; charset=utf-8");
  EXPECT_FALSE(BodyReader(limits, "").begin(raw));
}

TEST(BodyReader, SaysWhenTheFolderIsGone) {
  const ScratchFolder folder;
  BodyReader reader(kLimits, folder.path() / "missing");
  ASSERT_FALSE(reader.begin(form_head()));
  EXPECT_EQ(reader.feed(part("audio", "RIFF"))->status, 500);
}

}  // namespace
}  // namespace hum::serve

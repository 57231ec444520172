// The parts of the HTTP layer that need no socket.
#include "serve/http/http.h"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "serve/http/conditions.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace {

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

}  // namespace
}  // namespace hum::serve

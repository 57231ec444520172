#include "serve/http/request_parser.h"

#include <gmock/gmock.h>

#include "base/rng.h"
#include "base/testing/mutation.h"

namespace hum::serve {
namespace {

using ::testing::HasSubstr;

struct Parsed {
  std::string method, target, body, rest;
  std::vector<std::pair<std::string, std::string>> fields;
  bool keep_alive = false, complete = false;
  int refusal = 0;
  std::string detail;
  bool operator==(const Parsed&) const = default;
};

// Feeds the pieces as a connection does: what is not consumed comes again with the next piece.
Parsed parse(const std::vector<std::string_view>& pieces, int64_t header_bytes = 1024,
             int64_t target_bytes = 256) {
  RequestParser parser(header_bytes, target_bytes);
  Parsed parsed;
  std::string pending;
  const std::function<void(std::string_view)> take = [&](std::string_view body) {
    parsed.body += body;
  };
  for (const std::string_view piece : pieces) {
    pending += piece;
    if (!parser.head_complete()) pending.erase(0, parser.feed_head(pending));
    if (parser.refusal()) break;
    if (parser.head_complete() && !parser.complete()) {
      pending.erase(0, parser.feed_body(pending, take));
    }
    if (parser.refusal()) break;
  }
  if (parser.refusal()) {
    parsed.refusal = parser.refusal()->status;
    parsed.detail = parser.refusal()->detail;
    return parsed;
  }
  parsed.complete = parser.complete();
  parsed.method = parser.head().method;
  parsed.target = parser.head().target;
  parsed.fields = parser.head().headers.fields();
  parsed.keep_alive = parser.head_complete() && parser.head().keep_alive;
  parsed.rest = pending;
  return parsed;
}

void expect_same_for_every_split(const std::string& text) {
  const Parsed whole = parse({text});
  const std::string_view view = text;
  for (size_t i = 0; i <= view.size(); ++i) {
    EXPECT_EQ(parse({view.substr(0, i), view.substr(i)}), whole) << "split at " << i << " of\n"
                                                                 << text;
  }
  std::vector<std::string_view> bytes;
  for (size_t i = 0; i < view.size(); ++i) bytes.push_back(view.substr(i, 1));
  EXPECT_EQ(parse(bytes), whole) << text;
}

const std::string kGet = "GET /v1/jobs?limit=2 HTTP/1.1\r\nHost: a\r\nX-Two:  b c \r\n\r\n";
const std::string kPost = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
const std::string kChunked =
    "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3\r\nhel\r\n2;x=\"y\"\r\nlo\r\n0\r\nTrailer: t\r\n\r\n";

TEST(RequestParser, ReadsHeadAndBody) {
  const Parsed get = parse({kGet});
  EXPECT_TRUE(get.complete);
  EXPECT_TRUE(get.keep_alive);
  EXPECT_EQ(get.method, "GET");
  EXPECT_EQ(get.target, "/v1/jobs?limit=2");
  EXPECT_EQ(get.fields,
            (std::vector<std::pair<std::string, std::string>>{{"Host", "a"}, {"X-Two", "b c"}}));
  EXPECT_EQ(parse({kPost}).body, "hello");
  const Parsed chunked = parse({kChunked});
  EXPECT_TRUE(chunked.complete) << chunked.detail;
  EXPECT_EQ(chunked.body, "hello");
  EXPECT_EQ(chunked.fields.size(), 2U) << "a trailer is not a header";
}

TEST(RequestParser, GivesTheSameForEverySplitOfTheInput) {
  for (const std::string& text : {kGet, kPost, kChunked}) expect_same_for_every_split(text);
}

TEST(RequestParser, LeavesTheNextRequest) {
  for (const std::string& text : {kGet, kPost, kChunked}) {
    const Parsed parsed = parse({text + kGet});
    EXPECT_TRUE(parsed.complete);
    EXPECT_EQ(parsed.rest, kGet);
  }
  EXPECT_TRUE(parse({"\r\n\r\n" + kGet}).complete) << "empty lines may precede a request";
}

TEST(RequestParser, SaysWhatIsWrong) {
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {"GET / HTTP/2.0\r\n\r\n", 505, "version"},
      {"GET / HTTP/0.9\r\n\r\n", 505, "version"},
      {"GET /\r\n\r\n", 400, "request line"},
      {"G(T / HTTP/1.1\r\n\r\n", 400, "request line"},
      {"\x16\x03\x01 tls", 400, "request line"},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400, "header"},
      {"GET / HTTP/1.1\r\nA: \x01\r\n\r\n", 400, "header"},
      {"GET / HTTP/1.1\r\nA : b\r\n\r\n", 400, "header"},
      {"GET / HTTP/1.1\nHost: a\n\n", 505, "version"},
      {post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "Content-Length"},
      {post + "Content-Length: -1\r\n\r\n", 400, "Content-Length"},
      {post + "Content-Length: +1\r\n\r\n", 400, "Content-Length"},
      {post + "Content-Length: 99999999999999999999\r\n\r\n", 400, "Content-Length"},
      {post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "Transfer-Encoding"},
      {post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400, "Content-Length"},
      {post + "Transfer-Encoding: gzip\r\n\r\n", 501, "chunked"},
      {post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501, "chunked"},
      {post + "Transfer-Encoding: chunked, gzip\r\n\r\n", 501, "chunked"},
      {post + "Transfer-Encoding: xchunked\r\n\r\n", 501, "chunked"},
      {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n", 400, ""},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "HTTP/1.0"},
      {post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400, "chunked"},
      {post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n", 400, "chunked"},
      {post + "Transfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n", 400, "chunked"},
      {post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400, "chunked"},
  };
  for (const auto& [text, status, detail] : cases) {
    const Parsed parsed = parse({text});
    EXPECT_EQ(parsed.refusal, status) << text;
    EXPECT_THAT(parsed.detail, HasSubstr(detail)) << text;
  }
}

TEST(RequestParser, RefusesLongTargetsAndHeaders) {
  const std::string target(300, 'a'), field = "X: " + std::string(200, 'x') + "\r\n";
  const std::string long_target = "GET /" + target + " HTTP/1.1\r\n\r\n";
  const std::string endless_target = "GET /" + std::string(2000, 'a');
  std::string long_header = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 10; ++i) long_header += field;
  const std::string endless_field = "GET / HTTP/1.1\r\nX: " + std::string(2000, 'x');
  const std::pair<std::string, int> cases[] = {{long_target, 414},
                                               {endless_target, 414},
                                               {long_header, 431},
                                               {long_header + "\r\n", 431},
                                               {endless_field, 431}};
  for (const auto& [text, status] : cases) {
    std::vector<std::string_view> bytes;
    for (size_t i = 0; i < text.size(); ++i) bytes.push_back(std::string_view(text).substr(i, 1));
    EXPECT_EQ(parse({text}).refusal, status) << text;
    EXPECT_EQ(parse(bytes).refusal, status) << "byte by byte: " << text;
  }
  EXPECT_TRUE(parse({"GET /" + std::string(255, 'a') + " HTTP/1.1\r\nX: " + std::string(700, 'x') +
                     "\r\n\r\n"})
                  .complete);
}

TEST(RequestParser, KnowsWhenAConnectionEnds) {
  EXPECT_FALSE(parse({"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"}).keep_alive);
  EXPECT_FALSE(parse({"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"}).keep_alive);
}

TEST(RequestParser, SurvivesDamage) {
  Rng rng(1, "request");
  const std::string seeds[] = {kGet, kPost, kChunked};
  for (int i = 0; i < 3000; ++i) {
    const std::string text = mutation::damaged(seeds[i % 3], rng);
    const Parsed whole = parse({text});
    const auto at = static_cast<size_t>(rng.integer(0, std::ssize(text)));
    const std::string_view view = text;
    const Parsed split = parse({view.substr(0, at), view.substr(at)});
    // Without the end of its header, a broken request is noticed sooner or later.
    EXPECT_EQ(split.complete, whole.complete) << text << "\nsplit at " << at;
    if (whole.complete) {
      EXPECT_EQ(split, whole) << text << "\nsplit at " << at;
    }
  }
}

}  // namespace
}  // namespace hum::serve

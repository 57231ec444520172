#include "serve/http/access.h"

#include <gmock/gmock.h>

namespace hum::serve {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace hum::serve

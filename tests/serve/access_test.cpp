// Keys and TLS of `hum serve`, from the command line.
#include "base/files.h"
#include "serve/http/test_tls.h"
#include "tests/serve/service.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TlsClient;

constexpr const char* kLoopback = "127.0.0.1:0";
constexpr const char* kEverywhere = "0.0.0.0:0";

class ServiceAccess : public ServiceTest {
 protected:
  // Runs `hum serve` with more flags until it ends by itself; returns its exit code.
  int run(const std::vector<std::string>& flags, const char* listen = kLoopback) {
    fs::remove(log());
    return run_hum(serve_with(flags, listen), log())->wait();
  }
  // Starts `hum serve` and returns what it prints.
  Json serve(const std::vector<std::string>& flags, const char* listen = kLoopback) {
    server_ = run_hum(serve_with(flags, listen), log());
    const std::string line = server_->first_line();
    EXPECT_NE(line, "") << read_file(log());
    const Json listening = parse_json(line);
    port_ = listening["port"];
    return listening;
  }
  std::string add_key(const std::string& name) {
    return run_hum({"serve", "add-key", name, "--keys", keys_}, log())->first_line();
  }
  static std::string bearer(const std::string& token) {
    return "Authorization: Bearer " + token + "\r\n";
  }

  const std::string keys_ = scratch_ / "keys.txt";

 private:
  std::vector<std::string> serve_with(const std::vector<std::string>& flags,
                                      const char* listen) const {
    std::vector<std::string> all = {"serve",  "--workers",    "0",        "--json",
                                    "--data", data_.string(), "--listen", listen};
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  }
};

TEST_F(ServiceAccess, AnAddressThatOthersReachNeedsKeysAndTls) {
  const std::string token = add_key("anna");
  EXPECT_THAT(token, StartsWith("hum_"));
  EXPECT_EQ(run({"--keys", keys_}, kEverywhere), 2);
  EXPECT_THAT(read_file(log()), HasSubstr("needs keys and TLS"));
  EXPECT_EQ(run({"--tls", "self-signed"}, kEverywhere), 2);
  const Json listening = serve({"--keys", keys_, "--tls", "self-signed"}, kEverywhere);
  EXPECT_THAT(listening["url"].get<std::string>(), StartsWith("https://"));
  EXPECT_EQ(listening["fingerprint"].get<std::string>().size(), 95U);
  const std::string certificate = (data_ / "self-signed.pem").string();
  const auto answer = [&](const std::string& headers) {
    TlsClient client(port_, certificate);
    return client.handshake() ? client.ask("GET", "/v1/jobs", headers) : "no handshake";
  };
  EXPECT_THAT(answer(""), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(answer(bearer(token)), StartsWith("HTTP/1.1 200"));
  TlsClient page(port_, certificate);
  ASSERT_TRUE(page.handshake());
  EXPECT_THAT(page.ask("POST", "/v1/session", "", to_text(Json{{"token", token}})),
              HasSubstr("; HttpOnly; SameSite=Strict; Secure"));
  EXPECT_EQ(run_hum({"serve", "remove-key", "anna", "--keys", keys_}, log())->wait(), 0);
  EXPECT_THAT(answer(bearer(token)), StartsWith("HTTP/1.1 401")) << "without a restart";
}

TEST_F(ServiceAccess, KeysHoldOnTheLoopbackToo) {
  const std::string token = add_key("anna");
  serve({"--keys", keys_, "--host", "hum.example", "--cors-origin", "https://app.example"});
  EXPECT_EQ(ask("GET", "/v1/jobs").status, 401);
  EXPECT_EQ(ask("GET", "/v1/jobs", bearer(token)).status, 200);
  testing::TestClient client(port_);
  client.send("GET /health HTTP/1.1\r\nHost: hum.example\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_EQ(ask("GET", "/health", "Origin: https://app.example\r\n")
                .headers.at("access-control-allow-origin"),
            "https://app.example");
}

TEST_F(ServiceAccess, WrongOptionsSayWhatIsWrong) {
  const auto expect = [&](const std::vector<std::string>& flags, int code, const char* part) {
    EXPECT_EQ(run(flags), code) << part;
    EXPECT_THAT(read_file(log()), HasSubstr(part));
  };
  const std::string none = scratch_ / "none", text = scratch_ / "text";
  write_file(text, "anna secret\n");
  expect({"--keys", none}, 66, "none");
  expect({"--keys", text}, 78, "text:1");
  expect({"--tls-cert", text}, 2, "--tls-key");
  expect({"--tls-cert", none, "--tls-key", text}, 66, "none: no such file");
  expect({"--tls-cert", text, "--tls-key", text}, 2, "cannot be used as certificate");
  expect({"--tls-cert", text, "--tls-key", text, "--tls", "self-signed"}, 2, "two certificates");
  expect({"--tls", "magic"}, 2, "self-signed");
  expect({"--tls", "self-signed", "--host", "a,b"}, 2, "'a,b'");
  expect({"--host", "*"}, 2, "--host '*'");
  expect({"--host", "http://hum.example/"}, 2, "without scheme and port");
  expect({"--cors-origin", "*"}, 2, "no origin");
  expect({"--cors-origin", "https://a.example/page"}, 2, "no origin");
  expect({"--trusted-proxy", "proxy"}, 2, "no IP address");
  EXPECT_EQ(run({"--metrics", kEverywhere}), 2);
  EXPECT_THAT(read_file(log()), HasSubstr("--insecure"));
  EXPECT_EQ(run({}, "myhost:0"), 2);
  EXPECT_THAT(read_file(log()), HasSubstr("'myhost' is not an address in numbers"));
}

TEST_F(ServiceAccess, TheMetricsAnswerForTheSameNames) {
  const Json listening = serve({"--metrics", "127.0.0.1:0", "--host", "hum.lan"});
  const std::string url = listening["metrics"];
  testing::TestClient client(std::stoi(url.substr(url.rfind(':') + 1)));
  client.send("GET /metrics HTTP/1.1\r\nHost: hum.lan\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 200);
  client.send("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 421);
}

TEST_F(ServiceAccess, KeysAreListedWithoutTheirTokens) {
  const std::string token = add_key("anna");
  const auto list = run_hum({"serve", "list-keys", "--json", "--keys", keys_}, log());
  const std::string line = list->first_line();
  EXPECT_EQ(parse_json(line)[0]["name"], "anna");
  EXPECT_EQ(parse_json(line)[0]["jobs"], 20);
  EXPECT_EQ(line.find(token), std::string::npos);
  EXPECT_EQ(run_hum({"serve", "add-key", "anna", "--keys", keys_}, log())->wait(), 2) << "taken";
  EXPECT_NE(
      run_hum({"serve", "add-key", "anna", "--replace", "--keys", keys_}, log())->first_line(),
      token);
  EXPECT_EQ(run_hum({"serve", "add-key", "ben"}, log())->wait(), 2) << "which file?";
}

}  // namespace
}  // namespace hum::serve

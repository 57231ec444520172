// Time-outs, limits of size and number, and TLS.
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include "base/files.h"
#include "base/testing/refusal.h"
#include "serve/http/test_client.h"
#include "serve/http/test_tls.h"

namespace hum::serve {
namespace {

using std::chrono::milliseconds;
using testing::Answer;
using ::testing::HasSubstr;
using testing::TestClient;
using testing::TlsClient;
using testing::write_certificate;

class HttpLimits : public testing::ServerTest {
 protected:
  HttpLimits() {
    router.add("GET", "/", [](Request& request) {
      return Response{.body = request.secure ? "secure" : "plain"};
    });
    router.add("POST", "/", [](Request& request) {
      return Response{.body = std::to_string(request.body.size())};
    });
  }
};

TEST_F(HttpLimits, RefuseLongHeadersAndTargets) {
  start();
  EXPECT_EQ(ask("GET", "/" + std::string(9'000, 'a')).status, 414);
  EXPECT_EQ(ask("GET", "/" + std::string(40'000, 'a')).status, 414);
  EXPECT_EQ(ask("GET", "/", "X: " + std::string(17'000, 'a') + "\r\n").status, 431);
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "X: aaaaaaaa\r\n";
  EXPECT_EQ(ask("GET", "/", many).status, 431);
  EXPECT_EQ(ask("GET", "/", "X: " + std::string(16'000, 'a') + "\r\n").status, 200);
}

TEST_F(HttpLimits, EndRequestsThatNeverCome) {
  options.header_timeout = milliseconds(100);
  options.idle_timeout = milliseconds(200);
  start();
  TestClient silent(server->port()), slow(server->port()), idle(server->port());
  ASSERT_EQ(idle.ask("GET", "/").status, 200);
  const auto begin = std::chrono::steady_clock::now();
  // One byte at a time does not extend the time.
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: yes";
  for (size_t i = 0; i < request.size() && slow.send(request.substr(i, 1)); ++i) {
    if (slow.receive(milliseconds(20))) break;
  }
  EXPECT_EQ(slow.read_answer().status, 408);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(20) * request.size());
  EXPECT_TRUE(silent.wait_for_end());
  EXPECT_EQ(silent.unread(), "") << "no answer to no request";
  EXPECT_TRUE(idle.wait_for_end());
}

TEST_F(HttpLimits, EndBodiesThatCrawl) {
  options.body_grace = milliseconds(500);
  options.lowest_bytes_per_second = 1000;
  start();
  const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n";
  TestClient slow(server->port()), stopped(server->port()), steady(server->port());
  stopped.send(head + std::string(50'000, 'x'));
  EXPECT_EQ(stopped.read_answer().status, 408) << "what came fast earns no long pause";
  slow.send(head);
  bool answered = false;
  for (int i = 0; i < 500 && !answered; ++i) {
    slow.send("x");
    answered = slow.receive(milliseconds(20));
  }
  EXPECT_EQ(slow.read_answer().status, 408);
  steady.send(head);
  for (int i = 0; i < 6; ++i) {
    steady.send(std::string(10'000, 'x'));
    std::this_thread::sleep_for(milliseconds(120));
  }
  EXPECT_EQ(steady.read_answer().body, "60000") << "longer than the grace, but fast enough";
}

TEST_F(HttpLimits, EndClientsThatDoNotRead) {
  options.write_timeout = milliseconds(100);
  router.add("GET", "/large",
             [](Request&) { return Response{.body = std::string(50'000'000, 'x')}; });
  start();
  TestClient client(server->port());
  client.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_NE(client.read_until("\r\n\r\n"), "");
  ASSERT_EQ(server->connections(), 1);
  EXPECT_TRUE(eventually([&] { return server->connections() == 0; }));
}

TEST_F(HttpLimits, RefuseTooManyConnections) {
  options.max_connections = 3;
  start();
  {
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(std::make_unique<TestClient>(server->port()));
      ASSERT_EQ(clients.back()->ask("GET", "/").status, 200);
    }
    const Answer refused = ask("GET", "/");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.headers.at("content-type"), "application/problem+json");
    EXPECT_TRUE(refused.headers.contains("retry-after"));
    EXPECT_EQ(clients[0]->ask("GET", "/").status, 200);
  }
  EXPECT_TRUE(eventually([&] { return ask("GET", "/").status == 200; }));
}

TEST_F(HttpLimits, TellWhoAsksBehindAProxy) {
  options.proxies = {"127.0.0.1"};
  router.add("GET", "/peer", [](Request& request) {
    return Response{.body = request.peer + (request.secure ? " secure" : "")};
  });
  start();
  EXPECT_EQ(ask("GET", "/peer").body, "127.0.0.1");
  EXPECT_EQ(ask("GET", "/peer", "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\n").body,
            "1.2.3.4 secure");
}

// ---- TLS ----

// Sends the request and reads until the body that ends the answer.
std::string ask_over_tls(SSL* tls, const std::string& request, const std::string& body) {
  std::string answer;
  if (SSL_write(tls, request.data(), static_cast<int>(request.size())) <= 0) return answer;
  while (!answer.ends_with("\r\n\r\n" + body)) {
    char bytes[4096];
    const int count = SSL_read(tls, bytes, sizeof(bytes));
    if (count <= 0) return "";
    answer.append(bytes, static_cast<size_t>(count));
  }
  return answer;
}

TEST_F(HttpLimits, AnswerOverTls) {
  options.tls_certificate = files / "certificate.pem";
  options.tls_key = files / "key.pem";
  write_certificate(options.tls_certificate, options.tls_key);
  start();
  EXPECT_THAT(server->url(), HasSubstr("https://"));
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                             SSL_CTX_free);
  TestClient client(server->port()), plain(server->port()), silent(server->port());
  const std::unique_ptr<SSL, void (*)(SSL*)> tls(SSL_new(context.get()), SSL_free);
  SSL_set_fd(tls.get(), client.descriptor());
  ASSERT_EQ(SSL_connect(tls.get()), 1);
  const std::string post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n" +
                           std::string(60'000, 'x');
  const std::string get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(ask_over_tls(tls.get(), post, "60000"), HasSubstr("200 OK"));
    EXPECT_THAT(ask_over_tls(tls.get(), get, "secure"), HasSubstr("200 OK"));
  }
  const Answer refused = plain.ask("GET", "/");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("https://"));
  EXPECT_TRUE(plain.wait_for_end());
}

TEST_F(HttpLimits, EndHandshakesThatDoNotEnd) {
  options.header_timeout = milliseconds(500);
  options.tls_certificate = files / "certificate.pem";
  options.tls_key = files / "key.pem";
  write_certificate(options.tls_certificate, options.tls_key);
  start();
  TestClient silent(server->port()), begun(server->port());
  begun.send("\x16\x03\x01");
  EXPECT_TRUE(silent.wait_for_end());
  EXPECT_TRUE(begun.wait_for_end());
  TlsClient old(server->port());
  old.limit_version(TLS1_1_VERSION);
  EXPECT_FALSE(old.handshake()) << "TLS 1.1 is broken";
  TlsClient fine(server->port());
  fine.limit_version(TLS1_2_VERSION);
  EXPECT_TRUE(fine.handshake());
}

TEST_F(HttpLimits, SayWhatIsWrongWithACertificate) {
  const std::string certificate = files / "certificate.pem", key = files / "key.pem",
                    other = files / "other.pem";
  write_certificate(certificate, key);
  write_certificate(files / "unused.pem", other);
  write_file(files / "text.pem", "no certificate");
  const auto message = [](const std::string& first, const std::string& second) {
    return hum::testing::message_of(
        [&] { HttpServer({.tls_certificate = first, .tls_key = second}, Router()); });
  };
  EXPECT_THAT(message(files / "none.pem", key), HasSubstr("none.pem: no such file"));
  EXPECT_THAT(message(files / "text.pem", key),
              HasSubstr("text.pem: cannot be used as certificate"));
  EXPECT_THAT(message(certificate, files / "none.pem"), HasSubstr("none.pem: no such file"));
  EXPECT_THAT(message(certificate, other), HasSubstr("other.pem: cannot be used as key"));
  EXPECT_THAT(message(certificate, certificate), HasSubstr("cannot be used as key"));
  EXPECT_EQ(message(certificate, key), "nothing was thrown");
}

TEST_F(HttpLimits, KeepAValidCertificateUntilTheNewOneIsValid) {
  constexpr int64_t kHour_s = 3600;
  options.tls_certificate = files / "certificate.pem";
  options.tls_key = files / "key.pem";
  write_certificate(options.tls_certificate, options.tls_key);
  start();
  const std::string valid = files / "valid.pem", next = files / "next.pem";
  write_file(valid, read_file(options.tls_certificate));
  const auto accepts = [&](const std::string& trusted) {
    return TlsClient(server->port(), trusted).handshake();
  };
  ASSERT_TRUE(accepts(valid));
  const auto renew = [&](int64_t from_s, int64_t until_s) {
    write_certificate(options.tls_certificate, options.tls_key,
                      {.from_s = from_s, .until_s = until_s});
  };
  renew(-2 * kHour_s, -kHour_s);
  EXPECT_TRUE(accepts(valid)) << "the new one has expired";
  renew(kHour_s, 2 * kHour_s);
  EXPECT_TRUE(accepts(valid)) << "the new one is not valid yet";
  renew(2, kHour_s);
  write_file(next, read_file(options.tls_certificate));
  EXPECT_TRUE(eventually([&] { return accepts(next); })) << "now it is";
}

}  // namespace
}  // namespace hum::serve

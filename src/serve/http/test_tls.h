// For tests: a client that speaks TLS, by OpenSSL itself.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "serve/http/test_client.h"

namespace hum::serve::testing {

class TlsClient {
 public:
  // trusted: a PEM file; the client then refuses a certificate that is not in it, or that is not
  // for `host`. Empty: accepts any.
  explicit TlsClient(int port, const std::string& trusted = "",
                     const std::string& host = "localhost")
      : client_(port),
        context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
        tls_(nullptr, SSL_free) {
    if (!trusted.empty()) {
      SSL_CTX_load_verify_locations(context_.get(), trusted.c_str(), nullptr);
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    }
    tls_.reset(SSL_new(context_.get()));
    SSL_set1_host(tls_.get(), host.c_str());
    SSL_set_fd(tls_.get(), client_.descriptor());
  }

  // Only up to this version of TLS: TLS1_1_VERSION, for example.
  void limit_version(int newest) {
    SSL_set_min_proto_version(tls_.get(), TLS1_VERSION);
    SSL_set_max_proto_version(tls_.get(), newest);
    SSL_set_security_level(tls_.get(), 0);
  }

  bool handshake() { return SSL_connect(tls_.get()) == 1; }

  // Sends a request and returns all that comes until the connection ends.
  std::string ask(const std::string& method, const std::string& target,
                  const std::string& headers = "", const std::string& body = "") {
    std::string request =
        method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers;
    if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    request += "\r\n" + body;
    std::string answer;
    if (SSL_write(tls_.get(), request.data(), static_cast<int>(request.size())) <= 0) return answer;
    char bytes[4096];
    for (int count = 0; (count = SSL_read(tls_.get(), bytes, sizeof(bytes))) > 0;) {
      answer.append(bytes, static_cast<size_t>(count));
    }
    return answer;
  }

 private:
  TestClient client_;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  std::unique_ptr<SSL, void (*)(SSL*)> tls_;
};

}  // namespace hum::serve::testing

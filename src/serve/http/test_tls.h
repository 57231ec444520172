// For tests: a client that speaks TLS, by OpenSSL itself, and certificates.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "serve/http/test_client.h"

namespace hum::serve::testing {

struct CertificateOptions {
  std::string name = "localhost";
  int64_t from_s = 0, until_s = 3600;  // from now
};

// Writes a key and a certificate that it signs itself.
inline void write_certificate(const std::string& certificate_path, const std::string& key_path,
                              const CertificateOptions& options = {}) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), options.from_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), options.until_s);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto* name = reinterpret_cast<const unsigned char*>(options.name.c_str());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), subject);
  const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> names(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + options.name).c_str()),
      X509_EXTENSION_free);
  ASSERT_EQ(X509_add_ext(certificate.get(), names.get(), -1), 1);
  ASSERT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  const std::unique_ptr<FILE, int (*)(FILE*)> first(fopen(certificate_path.c_str(), "w"), fclose);
  ASSERT_EQ(PEM_write_X509(first.get(), certificate.get()), 1);
  const std::unique_ptr<FILE, int (*)(FILE*)> second(fopen(key_path.c_str(), "w"), fclose);
  ASSERT_EQ(PEM_write_PrivateKey(second.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr),
            1);
}

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

// Reads the certificate of a server that speaks TLS.
#include "base/error.h"
#include "base/log.h"
#include "serve/http/file_stamp.h"
#include "serve/http/server_impl.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;
namespace ssl = asio::ssl;

// Throws: kUsage.
ssl::context load(const fs::path& certificate, const fs::path& key) {
  ssl::context tls(ssl::context::tls_server);
  tls.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                  ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  // Without it OpenSSL would ask for the password of a key on the terminal.
  tls.set_password_callback([](size_t, ssl::context::password_purpose) { return std::string(); });
  error_code error;
  tls.use_certificate_chain_file(certificate.string(), error);
  if (error) {
    fail(ExitCode::kUsage,
         certificate.string() + ": cannot be used as certificate: " + error.message(),
         "name a PEM file with the certificate and those that signed it");
  }
  tls.use_private_key_file(key.string(), ssl::context::pem, error);
  if (error) {
    fail(ExitCode::kUsage, key.string() + ": cannot be used as key: " + error.message(),
         "name the PEM file with the certificate's private key, without password");
  }
  return tls;
}

}  // namespace

TlsFiles::TlsFiles(fs::path certificate, fs::path key)
    : certificate_(std::move(certificate)),
      key_(std::move(key)),
      seen_(stamps()),
      context_(load(certificate_, key_)) {}

std::string TlsFiles::stamps() const { return file_stamp(certificate_) + "/" + file_stamp(key_); }

ssl::context& TlsFiles::current() {
  const std::string now = stamps();
  if (now == seen_) return context_;
  seen_ = now;
  try {
    context_ = load(certificate_, key_);
    spdlog::info("the certificate has changed; new connections use it");
  } catch (const Error& error) {
    spdlog::error("the certificate has changed and cannot be used; the one from before stays: {}",
                  error.message());
  }
  return context_;
}

}  // namespace hum::serve

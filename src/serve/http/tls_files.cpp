// Reads the certificate of a server that speaks TLS.
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <ctime>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "serve/http/file_stamp.h"
#include "serve/http/server_impl.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;
namespace ssl = asio::ssl;

// Throws: kUsage; kNoInput and kNoPermission for the files.
ssl::context load(const fs::path& certificate, const fs::path& key) {
  for (const fs::path& file : {certificate, key}) open_to_read(file);
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

std::string date_text(const ASN1_TIME* time) {
  std::tm parts{};
  std::array<char, 32> text{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown date";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return text.data();
}

// Why clients refuse the certificate now: "has expired on ...". Empty: it is valid.
std::string fault_of(ssl::context& tls) {
  const X509* certificate = SSL_CTX_get0_certificate(tls.native_handle());
  const ASN1_TIME* first = X509_get0_notBefore(certificate);
  const ASN1_TIME* last = X509_get0_notAfter(certificate);
  if (X509_cmp_current_time(first) > 0) return "is not valid before " + date_text(first);
  if (X509_cmp_current_time(last) < 0) return "has expired on " + date_text(last);
  return "";
}

}  // namespace

TlsFiles::TlsFiles(fs::path certificate, fs::path key)
    : certificate_(std::move(certificate)),
      key_(std::move(key)),
      seen_(stamps()),
      context_(load(certificate_, key_)) {
  const std::string fault = fault_of(context_);
  if (fault.empty()) return;
  spdlog::error("{}: the certificate {}; clients refuse it", certificate_.string(), fault);
}

std::string TlsFiles::stamps() const { return file_stamp(certificate_) + "/" + file_stamp(key_); }

ssl::context& TlsFiles::current() {
  const std::string now = stamps();
  if (now != seen_) {
    seen_ = now;
    read_again();
  }
  if (next_ && (fault_of(*next_).empty() || !fault_of(context_).empty())) {
    context_ = std::move(*next_);
    next_.reset();
    spdlog::info("the certificate has changed; new connections use it");
  }
  return context_;
}

void TlsFiles::read_again() {
  next_.reset();
  try {
    next_.emplace(load(certificate_, key_));
    const std::string fault = fault_of(*next_);
    if (fault.empty()) return;
    spdlog::error("the certificate has changed, and the new one {}; {}", fault,
                  fault_of(context_).empty() ? "the one from before stays while it is valid"
                                             : "clients refuse it, as the one from before");
  } catch (const Error& error) {
    spdlog::error("the certificate has changed and cannot be used; the one from before stays: {}",
                  error.message());
  }
}

}  // namespace hum::serve

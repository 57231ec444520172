#include "serve/access/certificate.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "serve/http/url.h"
#include "serve/storage/data_folder.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

// Browsers and phones refuse certificates for more than 825 days.
constexpr int kValid_days = 800, kLeft_days = 30;

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Memory = std::unique_ptr<BIO, Freed<BIO_free>>;

// Letters, digits, '-' and '.': what a certificate may name.
bool is_host_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  HUM_CHECK(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "{}", value);
}

void set_serial_number(X509* certificate) {
  std::array<unsigned char, 8> bytes{};
  HUM_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
  uint64_t number = 0;
  for (const unsigned char byte : bytes) number = (number << 8) | byte;
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), (number >> 1) | 1);
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : ",") + std::string(is_ip_address(name) ? "IP:" : "DNS:") + name;
  }
  return all;
}

Certificate make_certificate(EVP_PKEY* key, const std::vector<std::string>& names) {
  constexpr int64_t kDay_s = 24 * 3600;
  Certificate made(X509_new());
  X509* certificate = made.get();
  X509_set_version(certificate, X509_VERSION_3);
  set_serial_number(certificate);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -kDay_s);  // clocks differ
  X509_gmtime_adj(X509_getm_notAfter(certificate), (kValid_days - 1) * kDay_s);
  X509_set_pubkey(certificate, key);
  const std::array<unsigned char, 3> hum = {'h', 'u', 'm'};
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, hum.data(), hum.size(), -1, 0);
  X509_set_issuer_name(certificate, subject);
  add_extension(certificate, NID_subject_alt_name, alternative_names(names));
  add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate, NID_key_usage, "critical,digitalSignature");
  add_extension(certificate, NID_ext_key_usage, "serverAuth");
  HUM_CHECK(X509_sign(certificate, key, EVP_sha256()) > 0);
  return made;
}

std::string pem_of(EVP_PKEY* key, X509* certificate) {
  const Memory memory(BIO_new(BIO_s_mem()));
  HUM_CHECK(PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) ==
                1 &&
            PEM_write_bio_X509(memory.get(), certificate) == 1);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(memory.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

// Null if there is none.
Certificate read_certificate(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return nullptr;
  const std::string pem = read_file(file);
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr));
}

bool is_for(X509* certificate, const std::string& name) {
  return is_ip_address(name)
             ? X509_check_ip_asc(certificate, name.c_str(), 0) == 1
             : X509_check_host(certificate, name.data(), name.size(), 0, nullptr) == 1;
}

bool is_valid_for_long(const X509* certificate) {
  time_t then = std::time(nullptr) + kLeft_days * 24L * 3600;
  return X509_cmp_time(X509_get0_notAfter(certificate), &then) > 0;
}

std::string fingerprint_of(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  HUM_CHECK(X509_digest(certificate, EVP_sha256(), digest.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += fmt::format("{}{:02X}", i == 0 ? "" : ":", digest.at(i));
  }
  return text;
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names = {"localhost", "::1"};
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0 && is_host_name(host.data())) {
    names.emplace_back(host.data());
    if (names.back().find('.') == std::string::npos) names.push_back(names.back() + ".local");
  }
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return names;
  const std::unique_ptr<ifaddrs, Freed<freeifaddrs>> interfaces(first);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
    names.emplace_back(text.data());
  }
  return names;
}

std::string ensure_certificate(const fs::path& file, const std::vector<std::string>& names) {
  const Certificate kept = read_certificate(file);
  const auto fits = [&](const std::string& name) { return is_for(kept.get(), name); };
  if (kept && is_valid_for_long(kept.get()) && std::ranges::all_of(names, fits)) {
    return fingerprint_of(kept.get());
  }
  for (const std::string& name : names) {
    if (is_ip_address(name) || is_host_name(name)) continue;
    fail(ExitCode::kUsage, fmt::format("'{}' is no name of a machine and no address", name));
  }
  const PrivateKey key(EVP_EC_gen("P-256"));
  HUM_CHECK(key != nullptr);
  const Certificate made = make_certificate(key.get(), names);
  write_private(file, pem_of(key.get(), made.get()));
  if (kept) spdlog::warn("the certificate has expired or lacks a name: a new one replaces it");
  return fingerprint_of(made.get());
}

}  // namespace hum::serve

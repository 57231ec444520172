#include "serve/access/certificate.h"

#include <gmock/gmock.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>

#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "serve/http/test_tls.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::TlsClient;

class CertificateTest : public ::testing::Test {
 protected:
  std::unique_ptr<HttpServer> serve(const fs::path& key = {}) const {
    Router router;
    router.add("GET", "/", [](Request&) { return Response{.body = std::string("hello")}; });
    return std::make_unique<HttpServer>(
        ServerOptions{.tls_certificate = file_, .tls_key = key.empty() ? file_ : key},
        std::move(router));
  }

  const ScratchFolder folder_;
  const fs::path file_ = folder_.path() / "self-signed.pem";
};

TEST_F(CertificateTest, AClientThatTrustsItIsServed) {
  const std::string fingerprint = ensure_certificate(file_, {"localhost", "127.0.0.1", "::1"});
  EXPECT_THAT(fingerprint, MatchesRegex("([0-9A-F]{2}:){31}[0-9A-F]{2}"));
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const auto server = serve();
  TlsClient client(server->port(), file_);
  ASSERT_TRUE(client.handshake());
  EXPECT_THAT(client.ask("GET", "/"), HasSubstr("hello"));
  EXPECT_FALSE(TlsClient(server->port(), file_, "other.example").handshake()) << "not for it";
  const fs::path other = folder_.path() / "other.pem";
  ensure_certificate(other, {"localhost"});
  EXPECT_FALSE(TlsClient(server->port(), other).handshake()) << "another certificate";
}

TEST_F(CertificateTest, ItStaysWhileItFits) {
  const std::string first = ensure_certificate(file_, {"localhost", "10.0.0.7"});
  EXPECT_EQ(ensure_certificate(file_, {"10.0.0.7"}), first);
  EXPECT_NE(ensure_certificate(file_, {"localhost", "10.0.0.8"}), first) << "for another address";
  const std::string third = ensure_certificate(file_, {"hum.example"});
  EXPECT_EQ(ensure_certificate(file_, {"hum.example"}), third);
  write_file(file_, "damaged");
  EXPECT_NE(ensure_certificate(file_, {"hum.example"}), third);
}

TEST_F(CertificateTest, ARenewedOneIsTakenWithoutARestart) {
  const fs::path key = folder_.path() / "key.pem", renewed = folder_.path() / "renewed.pem";
  ensure_certificate(file_, {"localhost"});
  ensure_certificate(renewed, {"localhost"});
  const std::string old_pem = read_file(file_), new_pem = read_file(renewed);
  const fs::path trusted_old = folder_.path() / "old.pem";
  write_file(trusted_old, old_pem);
  write_file(key, old_pem);
  const auto server = serve(key);
  const auto accepts = [&](const fs::path& trusted) {
    return TlsClient(server->port(), trusted).handshake();
  };
  TlsClient open(server->port(), trusted_old);
  ASSERT_TRUE(open.handshake());
  EXPECT_FALSE(accepts(renewed));
  // Each of these is no pair.
  write_file(file_, new_pem);
  EXPECT_TRUE(accepts(trusted_old)) << "the key is still that of the old one";
  write_file(key, "damaged");
  EXPECT_TRUE(accepts(trusted_old));
  fs::remove(file_);
  EXPECT_TRUE(accepts(trusted_old));
  write_file(file_, new_pem);
  write_file(key, new_pem);
  EXPECT_TRUE(accepts(renewed));
  EXPECT_FALSE(accepts(trusted_old));
  EXPECT_THAT(open.ask("GET", "/"), HasSubstr("hello")) << "connections from before stay";
}

TEST_F(CertificateTest, ItIsOneThatBrowsersAccept) {
  ensure_certificate(file_, {"localhost"});
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(file_.c_str(), "r"), fclose);
  const std::unique_ptr<X509, void (*)(X509*)> certificate(
      PEM_read_X509(file.get(), nullptr, nullptr, nullptr), X509_free);
  ASSERT_TRUE(certificate);
  EXPECT_EQ(X509_get_version(certificate.get()), X509_VERSION_3);
  EXPECT_EQ(X509_get_extended_key_usage(certificate.get()), uint32_t{XKU_SSL_SERVER});
  EXPECT_EQ(X509_check_ca(certificate.get()), 0);
  int days = 0, seconds = 0;
  ASSERT_EQ(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate.get()),
                           X509_get0_notAfter(certificate.get())),
            1);
  EXPECT_EQ(days, 800);
  time_t now = std::time(nullptr);
  EXPECT_LT(X509_cmp_time(X509_get0_notBefore(certificate.get()), &now), 0);
}

TEST_F(CertificateTest, NamesThatACertificateCannotHoldAreRefused) {
  for (const char* name : {"", "a,b", "a b", "a\nb", "DNS:a", "*"}) {
    EXPECT_EQ(hum::testing::code_of([&] { ensure_certificate(file_, {name}); }), ExitCode::kUsage)
        << name;
  }
  EXPECT_FALSE(fs::exists(file_));
}

TEST(MachineNames, AreThoseOfTheLoopbackAtLeast) {
  const auto names = machine_names();
  for (const char* name : {"localhost", "127.0.0.1", "::1"}) EXPECT_THAT(names, Contains(name));
}

}  // namespace
}  // namespace hum::serve

// Checks the options of the service that say who may reach it.
#include <algorithm>

#include "base/error.h"
#include "serve/access/certificate.h"
#include "serve/http/url.h"
#include "serve/service.h"

namespace hum::serve {
namespace {

bool has_tls(const ServiceOptions& options) {
  return !options.tls_cert.empty() || !options.tls.empty();
}

void require_safe(const ServiceOptions& options, const Address& address,
                  const std::optional<Address>& metrics) {
  if (options.insecure) return;
  if (!address.is_loopback && (options.keys.empty() || !has_tls(options))) {
    fail(ExitCode::kUsage,
         fmt::format("--listen {}: other machines reach this address, so it needs keys and TLS",
                     options.listen),
         "--keys FILE --tls self-signed; or --insecure in a network that you trust");
  }
  if (metrics && !metrics->is_loopback) {
    fail(ExitCode::kUsage,
         fmt::format("--metrics {}: other machines reach this address, and metrics have neither "
                     "keys nor encryption",
                     options.metrics),
         "use 127.0.0.1; or add --insecure in a network that you trust");
  }
}

void validate_tls(const ServiceOptions& options) {
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    fail(ExitCode::kUsage, "--tls-cert and --tls-key belong together", "name both files");
  }
  if (options.tls.empty()) return;
  if (options.tls != "self-signed") {
    fail(ExitCode::kUsage, fmt::format("--tls '{}' is unknown", options.tls),
         "--tls self-signed; for a certificate of your own, --tls-cert and --tls-key");
  }
  if (!options.tls_cert.empty()) {
    fail(ExitCode::kUsage, "there are two certificates: --tls self-signed and --tls-cert",
         "leave out one of them");
  }
}

void validate_origins(const std::vector<std::string>& origins) {
  for (const std::string& origin : origins) {
    const size_t host = origin.starts_with("https://") ? 8 : origin.starts_with("http://") ? 7 : 0;
    const bool is_origin = host > 0 && origin.size() > host &&
                           origin.find_first_of("/*?# ", host) == std::string::npos;
    if (is_origin) continue;
    fail(ExitCode::kUsage, fmt::format("--cors-origin '{}' is no origin", origin),
         "--cors-origin https://example.org: scheme, host and, if need be, port");
  }
}

void validate_proxies(const std::vector<std::string>& proxies) {
  const auto wrong = std::ranges::find_if_not(proxies, is_ip_address);
  if (wrong == proxies.end()) return;
  fail(ExitCode::kUsage, fmt::format("--trusted-proxy '{}' is no IP address", *wrong),
       "--trusted-proxy 10.0.0.7");
}

}  // namespace

void validate_access(const ServiceOptions& options, const Address& address,
                     const std::optional<Address>& metrics) {
  require_safe(options, address, metrics);
  validate_tls(options);
  validate_origins(options.cors_origin);
  validate_proxies(options.trusted_proxy);
}

std::vector<std::string> certified_names(const ServiceOptions& options, const Address& address) {
  std::vector<std::string> names = machine_names();
  names.insert(names.end(), options.host.begin(), options.host.end());
  const bool is_any = address.host == "0.0.0.0" || address.host == "::";
  if (!is_any) names.push_back(address.host);
  return names;
}

}  // namespace hum::serve

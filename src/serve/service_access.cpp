// Checks the options of the service that say who may reach it.
#include <algorithm>
#include <string_view>
#include <utility>

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

void validate_hosts(const std::vector<std::string>& hosts) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  for (const std::string& host : hosts) {
    const bool is_name = !host.empty() && host.find_first_not_of(kLetters) == std::string::npos;
    if (is_name || is_ip_address(host)) continue;
    fail(ExitCode::kUsage, fmt::format("--host '{}' is no name of a machine and no address", host),
         "--host hum.example.org: each name by itself, without scheme and port");
  }
}

void validate_proxies(const std::vector<std::string>& proxies) {
  const auto wrong = std::ranges::find_if_not(proxies, is_ip_address);
  if (wrong == proxies.end()) return;
  fail(ExitCode::kUsage, fmt::format("--trusted-proxy '{}' is no IP address", *wrong),
       "--trusted-proxy 10.0.0.7");
}

}  // namespace

Address parse_address(const std::string& text, const char* flag) {
  const size_t colon = text.rfind(':');
  Address address;
  bool is_valid = colon != std::string::npos && colon > 0;
  if (is_valid) {
    address.host = text.substr(0, colon);
    const std::string port = text.substr(colon + 1);
    is_valid = !port.empty() && port.size() <= 5 &&
               port.find_first_not_of("0123456789") == std::string::npos &&
               std::stoi(port) <= 65535;
    if (is_valid) address.port = std::stoi(port);
  }
  const bool has_brackets =
      address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']';
  if (has_brackets) address.host = address.host.substr(1, address.host.size() - 2);
  is_valid = is_valid && (has_brackets || address.host.find(':') == std::string::npos);
  if (!is_valid) {
    fail(ExitCode::kUsage, fmt::format("--{} '{}' is not an address and a port", flag, text),
         fmt::format("--{} 127.0.0.1:8417", flag));
  }
  if (address.host == "localhost") address.host = "127.0.0.1";
  // A link-local address has its interface behind '%'.
  if (!is_ip_address(address.host.substr(0, address.host.find('%')))) {
    fail(ExitCode::kUsage,
         fmt::format("--{} '{}': '{}' is not an address in numbers", flag, text, address.host),
         fmt::format("--{0} 127.0.0.1:8417; --{0} 0.0.0.0:8417 is every address of the machine",
                     flag));
  }
  address.is_loopback = address.host.starts_with("127.") || address.host == "::1";
  return address;
}

void validate_access(const ServiceOptions& options, const Address& address,
                     const std::optional<Address>& metrics) {
  require_safe(options, address, metrics);
  validate_tls(options);
  validate_hosts(options.host);
  validate_origins(options.cors_origin);
  validate_proxies(options.trusted_proxy);
}

std::vector<std::string> served_names(const ServiceOptions& options, const Address& address) {
  std::vector<std::string> names = options.host;
  if (!address.is_loopback) {
    for (std::string& name : machine_names()) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> certified_names(const ServiceOptions& options, const Address& address) {
  std::vector<std::string> names = machine_names();
  names.insert(names.end(), options.host.begin(), options.host.end());
  const bool is_any = address.host == "0.0.0.0" || address.host == "::";
  if (!is_any) names.push_back(address.host);
  return names;
}

}  // namespace hum::serve

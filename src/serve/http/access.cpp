#include "serve/http/access.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace {

bool is_digits(std::string_view text) { return text.find_first_not_of("0123456789") == text.npos; }

bool is_safe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

// "https://a:443" -> "a". nullopt if it is not http or https.
std::optional<std::string> origin_authority(std::string_view origin) {
  const std::string lower = lower_case(trimmed(origin));
  const std::string_view text = lower;
  static constexpr std::pair<std::string_view, std::string_view> kSchemes[] = {
      {"http://", ":80"}, {"https://", ":443"}};
  for (const auto& [scheme, port] : kSchemes) {
    if (!text.starts_with(scheme)) continue;
    std::string_view authority = text.substr(scheme.size());
    if (authority.ends_with(port)) authority.remove_suffix(port.size());
    return std::string(authority);
  }
  return std::nullopt;
}

bool is_same_origin(std::string_view origin, std::string_view authority, bool is_secure) {
  const auto from = origin_authority(origin);
  const bool is_https = lower_case(trimmed(origin)).starts_with("https");
  if (is_secure && !is_https) return false;
  // Without TLS the scheme of the page is unknown: remove the port that is its default.
  const std::string_view scheme = is_https ? "https://" : "http://";
  return from && from == origin_authority(std::string(scheme) + std::string(authority));
}

bool is_among(std::string_view text, const std::vector<std::string>& list) {
  return std::ranges::find(list, text) != list.end();
}

}  // namespace

std::optional<std::string> host_name(std::string_view authority) {
  std::string host = lower_case(trimmed(authority));
  std::string_view port;
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == host.npos) return std::nullopt;
    port = std::string_view(host).substr(end + 1);
    if (!port.empty() && (!port.starts_with(':') || !is_digits(port.substr(1)))) {
      return std::nullopt;
    }
    return host.substr(1, end - 1);
  }
  const size_t colon = host.find(':');
  if (colon != host.npos) {
    if (!is_digits(std::string_view(host).substr(colon + 1))) return std::nullopt;
    host.resize(colon);
  }
  if (host.ends_with('.')) host.pop_back();
  if (host.empty() || host.find_first_of("/\\@?# ") != host.npos) return std::nullopt;
  return host;
}

std::optional<Refusal> check_origin(const RequestHead& head, const Arrival& arrival,
                                    const std::vector<std::string>& hosts,
                                    const std::vector<std::string>& cors_origins) {
  const auto fields = head.headers.all("host");
  if (fields.size() > 1 || (fields.empty() && head.http_11)) {
    return Refusal{400, "the request needs one Host"};
  }
  const std::string_view target =
      !arrival.authority.empty() || fields.empty() ? arrival.authority : fields[0];
  if (!target.empty() || head.http_11) {
    const auto host = host_name(target);
    if (!host) return Refusal{400, "Host is malformed"};
    const auto is_host = [&](const std::string& name) { return lower_case(name) == *host; };
    if (!is_loopback_name(*host) && *host != arrival.local_address &&
        !std::ranges::any_of(hosts, is_host)) {
      return Refusal{421,
                     "this server does not answer for that host name; the one who runs it can "
                     "allow the name"};
    }
  }
  if (is_safe(head.method)) return std::nullopt;
  const auto origin = head.headers.find("origin");
  if ((origin && !is_same_origin(*origin, target, arrival.is_secure) &&
       !is_among(*origin, cors_origins)) ||
      check_site(head, cors_origins)) {
    return Refusal{403, "pages of other origins may not change anything here"};
  }
  return std::nullopt;
}

std::optional<Refusal> check_site(const RequestHead& head,
                                  const std::vector<std::string>& cors_origins) {
  const auto origin = head.headers.find("origin");
  if (origin && is_among(*origin, cors_origins)) return std::nullopt;
  const auto site = head.headers.find("sec-fetch-site");
  if (!site || *site == "same-origin" || *site == "none") return std::nullopt;
  return Refusal{403, "pages of other origins may not start work here"};
}

std::string client_address(const std::string& peer, const Headers& headers,
                           const std::vector<std::string>& proxies) {
  const auto is_proxy = [&](std::string_view address) { return is_among(address, proxies); };
  if (!is_proxy(peer)) return peer;
  std::vector<std::string_view> path;
  for (const std::string_view field : headers.all("x-forwarded-for")) {
    for (const std::string_view address : split_list(field)) path.push_back(address);
  }
  const auto client = std::find_if_not(path.rbegin(), path.rend(), is_proxy);
  return client == path.rend() || !is_ip_address(std::string(*client)) ? peer
                                                                       : std::string(*client);
}

void add_cors_headers(Headers& response, const Headers& request,
                      const std::vector<std::string>& cors_origins) {
  if (cors_origins.empty()) return;
  response.set("Vary", "Origin");
  const auto origin = request.find("origin");
  if (!origin || !is_among(*origin, cors_origins)) return;
  response.set("Access-Control-Allow-Origin", std::string(*origin));
  response.set("Access-Control-Expose-Headers", "Content-Range, ETag, Location, Retry-After");
  if (!request.contains("access-control-request-method")) return;
  response.set("Access-Control-Allow-Methods", std::string(response.get("allow")));
  response.set("Access-Control-Allow-Headers",
               "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Range");
  response.set("Access-Control-Max-Age", "600");
}

void add_security_headers(Headers& headers) {
  // blob: is for sound that the page itself has made.
  static constexpr std::pair<std::string_view, std::string_view> kFields[] = {
      {"Content-Security-Policy",
       "default-src 'self'; media-src 'self' blob:; img-src 'self' blob: data:; object-src 'none'; "
       "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Permissions-Policy", "microphone=(self), camera=(), geolocation=()"},
      {"X-Frame-Options", "DENY"},
  };
  for (const auto& [name, value] : kFields) {
    if (!headers.contains(name)) headers.add(std::string(name), std::string(value));
  }
}

}  // namespace hum::serve

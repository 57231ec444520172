#include "serve/access/gate.h"

#include <charconv>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "serve/http/url.h"
#include "serve/storage/data_folder.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCookie = "hum_session";
constexpr const char* kCsrfHeader = "X-CSRF-Token";
constexpr const char* kSessionRoute = "/v1/session";
constexpr int64_t kSession_s = 30 * 24 * 3600;
constexpr int64_t kMostLoginBytes = 4096;
constexpr size_t kLeastSecretBytes = 32;

bool changes_nothing(const Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool needs_key(const Request& request) {
  return request.route.starts_with("/v1/") && request.route != kSessionRoute;
}

std::optional<std::string_view> bearer_token(const Request& request) {
  constexpr std::string_view kScheme = "bearer ";
  const auto field = request.headers.find("authorization");
  if (!field || lower_case(field->substr(0, kScheme.size())) != kScheme) return std::nullopt;
  return trimmed(field->substr(kScheme.size()));
}

Response unauthorized(const std::string& detail, bool is_wrong) {
  constexpr const char* kHint =
      "send the header `Authorization: Bearer TOKEN`, or log in on the page; who runs the service "
      "makes a token with `hum serve add-key`";
  Response refused = problem(401, detail, Json{{"hint", kHint}});
  refused.headers.set("WWW-Authenticate", is_wrong ? R"(Bearer realm="hum", error="invalid_token")"
                                                   : R"(Bearer realm="hum")");
  return refused;
}

Response wrong_token(const Request& request) {
  spdlog::warn("a request from {} has an unknown token", request.peer);
  return unauthorized("no key has this token", /*is_wrong=*/true);
}

void set_cookie(Response& response, const Request& request, const std::string& value,
                int64_t seconds) {
  response.headers.add(
      "Set-Cookie", fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", kCookie,
                                value, seconds, request.secure ? "; Secure" : ""));
}

// What a MAC of a session covers.
std::string session_text(const Key& key, std::string_view expiry) {
  return fmt::format("session {} {} {}", key.name, expiry, key.sha256);
}

}  // namespace

Gate::Gate(const fs::path& keys, const fs::path& secret) : keys_(std::make_unique<KeyFile>(keys)) {
  if (!fs::exists(secret)) write_private(secret, new_id() + new_id());
  secret_ = read_file(secret);
  if (secret_.size() < kLeastSecretBytes) {
    fail(ExitCode::kBadData, secret.string() + ": is too short to sign cookies with",
         "remove it: the service makes a new one, and everybody logs in again");
  }
}

std::string Gate::mac(const std::string& text) const { return to_hex(hmac_sha256(secret_, text)); }

std::string Gate::csrf_token(const std::string& cookie) const { return mac("csrf " + cookie); }

Quota Gate::quota_of(const std::string& caller) const {
  const auto key = keys_ ? keys_->with_name(caller) : std::nullopt;
  return key ? key->quota : Quota{};
}

std::optional<Key> Gate::key_of_cookie(const Request& request) const {
  const std::string cookie = request.cookie(kCookie).value_or("");
  const size_t second = cookie.rfind('.');
  if (second == std::string::npos || second == 0) return std::nullopt;
  const size_t first = cookie.rfind('.', second - 1);
  if (first == std::string::npos) return std::nullopt;
  const auto expiry = std::string_view(cookie).substr(first + 1, second - first - 1);
  int64_t expiry_s = 0;
  std::from_chars(expiry.data(), expiry.data() + expiry.size(), expiry_s);
  if (expiry_s <= now_ms() / 1000) return std::nullopt;
  auto key = keys_->with_name(std::string_view(cookie).substr(0, first));
  if (!key) return std::nullopt;
  const std::string expected = mac(session_text(*key, expiry));
  if (!equals_secret(std::string_view(cookie).substr(second + 1), expected)) return std::nullopt;
  return key;
}

std::optional<Response> Gate::admit(Request& request) const {
  if (!keys_) {
    request.caller = kLocalCaller;
    return std::nullopt;
  }
  if (!needs_key(request)) return std::nullopt;
  if (const auto token = bearer_token(request)) {
    const auto key = keys_->with_token(*token);
    if (!key) return wrong_token(request);
    request.caller = key->name;
    return std::nullopt;
  }
  const auto key = key_of_cookie(request);
  if (!key) return unauthorized("this service needs a key", /*is_wrong=*/false);
  const std::string expected = csrf_token(*request.cookie(kCookie));
  if (!changes_nothing(request) && !equals_secret(request.headers.get(kCsrfHeader), expected)) {
    return problem(403, fmt::format("the header {} is missing or of another session", kCsrfHeader),
                   Json{{"hint", "GET /v1/session returns the session's value as `csrf`"}});
  }
  request.caller = key->name;
  return std::nullopt;
}

void Gate::add_routes(Router& router) {
  router.add("GET", kSessionRoute, [this](Request& request) { return get_session(request); });
  router.add("POST", kSessionRoute, [this](Request& request) { return begin_session(request); },
             {.body_bytes = kMostLoginBytes});
  // Without CSRF token: it changes nothing here, and pages of other origins may not ask for it.
  router.add("DELETE", kSessionRoute, [](Request& request) {
    Response ended{.status = 204};
    set_cookie(ended, request, "", 0);
    return ended;
  });
}

// `name` is null for who must log in first.
Response Gate::get_session(const Request& request) const {
  if (!keys_) return json_response(200, {{"name", kLocalCaller}, {"csrf", nullptr}});
  const auto key = key_of_cookie(request);
  if (!key) return json_response(200, {{"name", nullptr}, {"csrf", nullptr}});
  return json_response(200, {{"name", key->name}, {"csrf", csrf_token(*request.cookie(kCookie))}});
}

Response Gate::begin_session(const Request& request) const {
  if (!keys_) return problem(422, "this service has no keys: everybody may use it");
  const Json body = try_parse_json(request.body);
  const bool has_token = body.is_object() && body.contains("token") && body["token"].is_string();
  if (!has_token) return problem(422, R"(the body is not {"token": TOKEN})");
  const auto key = keys_->with_token(body["token"].get<std::string>());
  if (!key) return wrong_token(request);
  const std::string expiry = std::to_string(now_ms() / 1000 + kSession_s);
  const std::string cookie =
      fmt::format("{}.{}.{}", key->name, expiry, mac(session_text(*key, expiry)));
  Response begun = json_response(200, {{"name", key->name}, {"csrf", csrf_token(cookie)}});
  set_cookie(begun, request, cookie, kSession_s);
  return begun;
}

}  // namespace hum::serve

// Who asks: decides which caller a request belongs to, and refuses those without a key. Programs
// send a key's token with each request (Authorization: Bearer); the page trades it for a cookie.
//
// The cookie is "NAME.EXPIRY.MAC". The MAC covers the key's hash, so that a cookie ends with its
// key, and needs no list of sessions. Its secret lies in the data folder: cookies outlive restarts.
// Since browsers send cookies by themselves, whoever changes something with one also sends a CSRF
// token, a second MAC, which other pages cannot read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "serve/access/keys.h"
#include "serve/http/http.h"

namespace hum::serve {

// Of all requests, when the service has no keys.
inline constexpr const char* kLocalCaller = "local";

class Gate {
 public:
  // Without keys everybody passes.
  Gate() = default;
  // secret: a file, created if there is none. Throws: what read_keys throws, kCannotCreate,
  // kNoPermission; kBadData for a secret that is too short.
  Gate(const std::filesystem::path& keys, const std::filesystem::path& secret);

  bool has_keys() const { return keys_ != nullptr; }
  // For ServerOptions::admit. Sets the request's caller. The page, /health, /ready, /openapi.json
  // and /v1/session need no key.
  std::optional<Response> admit(Request& request) const;
  // /v1/session: who one is, log in, log out.
  void add_routes(Router& router);
  // For QueueRules::quota_of. Without keys there is no limit.
  Quota quota_of(const std::string& caller) const;

 private:
  Response get_session(const Request& request) const;
  Response begin_session(const Request& request) const;
  std::optional<Key> key_of_cookie(const Request& request) const;
  std::string mac(const std::string& text) const;
  std::string csrf_token(const std::string& cookie) const;

  std::unique_ptr<KeyFile> keys_;
  std::string secret_;
};

}  // namespace hum::serve

// Who may ask: the Host and Origin of a request, the client's address behind proxies, and the
// headers that tell browsers what a response may do. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http.h"
#include "serve/http/request_parser.h"

namespace hum::serve {

// "Example.org:80" -> "example.org", "[::1]:80" -> "::1". nullopt if it is malformed.
std::optional<std::string> host_name(std::string_view authority);

// How a request arrived.
struct Arrival {
  std::string_view authority;      // of an absolute target, else ""
  std::string_view local_address;  // the one that the client connected to
  bool is_secure = false;          // over TLS, also to a trusted proxy
};

// Refuses a request for another host (421, DNS rebinding) and a page's request that changes
// something here from another origin (403). Over TLS, a page that came without it is another
// origin; without TLS, an unknown proxy may have served a page over it. `hosts`, `cors_origins`: of
// ServerOptions.
std::optional<Refusal> check_origin(const RequestHead& head, const Arrival& arrival,
                                    const std::vector<std::string>& hosts,
                                    const std::vector<std::string>& cors_origins = {});

// Tells the browser that a page of one of the origins may read the response; to its question before
// a request (OPTIONS), which requests the page may send.
void add_cors_headers(Headers& response, const Headers& request,
                      const std::vector<std::string>& cors_origins);

// Refuses every request of a page of another origin (403), also one that only reads. Browsers tell
// in Sec-Fetch-Site; other programs send nothing. Pages of `cors_origins` are let in.
std::optional<Refusal> check_site(const RequestHead& head,
                                  const std::vector<std::string>& cors_origins = {});

// The last address in X-Forwarded-For that no proxy has; the peer itself if that is no proxy, or if
// it is no address there.
std::string client_address(const std::string& peer, const Headers& headers,
                           const std::vector<std::string>& proxies);

// Adds the headers that each response has, unless the handler has set them.
void add_security_headers(Headers& headers);

}  // namespace hum::serve

// Sends one HTTP request with libcurl. The caller interprets the response.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace hum {

struct HttpRequest {
  std::string method;
  std::string url;                   // already encoded
  std::vector<std::string> headers;  // "Name: value"
  std::string_view body = {};        // for PUT and POST; must outlive the call
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds transfer_timeout{0};  // 0: none
  std::chrono::seconds stall_timeout{30};         // below 1 kB/s for this long
  // Receives the body of a 2xx response in pieces. Without it the body is in the response.
  std::function<void(std::string_view)> sink = {};
  std::stop_token stop = {};
  std::string ca_file = {};  // certificates to trust, PEM; empty: those of the system
};

// Why a server's certificate is not trusted.
enum class CertificateFault { kNone, kExpired, kNotYetValid, kOtherName, kUnknownIssuer, kOther };

struct HttpAnswer {
  int status = 0;                              // 0: no response
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;
  std::string failure;     // connection error; empty if the response is complete
  bool may_retry = false;  // the failure may be temporary
  CertificateFault certificate = CertificateFault::kNone;  // that the failure is about
};

// Throws only what the sink throws.
HttpAnswer send_http(const HttpRequest& request);

// ---- Between attempts ----

// Between half of `longest` and all of it, so that many clients do not retry at the same moment.
std::chrono::milliseconds jittered(std::chrono::milliseconds longest);
// Returns at once after a request to stop.
void pause(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace hum

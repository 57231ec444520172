// One HTTP request over libcurl; what its answer means is the caller's business.
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
  std::string url;                   // encoded; sent as it is
  std::vector<std::string> headers;  // "Name: value"
  std::string_view body = {};        // of a PUT
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds transfer_timeout{0};  // 0: none
  std::chrono::seconds stall_timeout{30};         // under 1 kB/s for so long
  // Receives the body of a 2xx answer in pieces; without it the body is in the answer.
  std::function<void(std::string_view)> sink = {};
  std::stop_token stop = {};
};

struct HttpAnswer {
  int status = 0;                              // 0: none came
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;
  std::string failure;     // of the connection; empty when the whole answer came
  bool may_retry = false;  // whether that failure may pass
};

// Throws only what the sink throws.
HttpAnswer send_http(const HttpRequest& request);

}  // namespace hum

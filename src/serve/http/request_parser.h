// Splits the bytes of a connection into requests: Beast's parser behind an interface without Beast
// and without sockets. Stricter than Beast where its leniency would let two servers disagree about
// where a request ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http/http.h"

namespace hum::serve {

struct RequestHead {
  std::string method, target;
  bool http_11 = true;
  bool keep_alive = false;
  bool has_body = false;
  std::optional<int64_t> content_length;  // nullopt: chunked, or no body
  Headers headers;
};

// What is wrong with a request, as a status and a sentence, and what to do about it.
struct Refusal {
  int status = 400;
  std::string detail;
  std::string hint = {};
};

// Parses one request; a new object parses the next.
class RequestParser {
 public:
  RequestParser(int64_t header_bytes, int64_t target_bytes);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Consumes bytes until the head is complete, and returns their number. If the head is not
  // complete then, call it again with the rest and more bytes.
  size_t feed_head(std::string_view bytes);
  // The same for the body, whose pieces go to `content`.
  size_t feed_body(std::string_view bytes, const std::function<void(std::string_view)>& content);

  bool got_some() const;  // of the request; empty lines before it do not count
  bool head_complete() const;
  bool complete() const;
  // After it has refused, the parser consumes nothing.
  const std::optional<Refusal>& refusal() const;
  const RequestHead& head() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::serve

// Writes responses: their heads, text and files. Streams are in send_streams.cpp.
#include <algorithm>
#include <ctime>

#include "base/log.h"
#include "serve/http/access.h"
#include "serve/http/conditions.h"
#include "serve/http/server_impl.h"

namespace hum::serve {
namespace {

bool has_no_body(int status) { return status == 204 || status == 304 || status < 200; }

}  // namespace

std::string closing_text(const Response& response) {
  const std::string& body = std::get<std::string>(response.body);
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", response.status,
                  status_text(response.status), response.content_type, body.size());
  for (const auto& [name, value] : response.headers.fields()) {
    text.append(name).append(": ").append(value).append("\r\n");
  }
  return text + "Connection: close\r\n\r\n" + body;
}

std::string Connection::head_text(const Response& response,
                                  std::optional<int64_t> content_length) const {
  Headers headers = response.headers;
  headers.set("Date", http_date(std::time(nullptr)));
  if (!response.content_type.empty() && response.status != 304) {
    headers.set("Content-Type", response.content_type);
  }
  if (content_length) headers.set("Content-Length", std::to_string(*content_length));
  if (chunked_) headers.set("Transfer-Encoding", "chunked");
  if (!headers.contains("cache-control")) headers.set("Cache-Control", "no-store");
  if (!keep_alive_) headers.set("Connection", "close");
  add_security_headers(headers);
  add_cors_headers(headers, parser_->head().headers, state_->options.cors_origins);
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, status_text(response.status));
  for (const auto& [name, value] : headers.fields()) {
    // A line end in a value would let its author write the rest of the response.
    if (std::ranges::any_of(value, [](unsigned char c) { return c < 0x20 && c != '\t'; })) {
      spdlog::error("a response's header {} has control characters; it is not sent", name);
      continue;
    }
    text.append(name).append(": ").append(value).append("\r\n");
  }
  return text + "\r\n";
}

awaitable<bool> Connection::send_response(Outcome outcome) {
  Response& response = outcome.response;
  keep_alive_ = keep_alive_ && !state_->draining && !gone_;
  chunked_ = false;
  bool is_stream = std::holds_alternative<GrowingFileBody>(response.body) ||
                   std::holds_alternative<EventBody>(response.body);
  if (is_stream && state_->streams >= state_->options.max_streams) {
    response = problem(503, "too many streams are open; try again later");
    exchange_.status = response.status;
    is_stream = false;
  }
  const bool head_only = parser_->head().method == "HEAD";
  bool sent = false;
  if (is_stream) {
    sent = co_await send_stream(outcome, head_only);
  } else if (outcome.file) {
    sent = co_await send_file(outcome, head_only);
  } else {
    sent = co_await send_text(response, head_only);
  }
  co_return sent;
}

awaitable<bool> Connection::send_text(const Response& response, bool head_only) {
  const std::string& body = std::get<std::string>(response.body);
  const auto bytes = static_cast<int64_t>(body.size());
  const bool no_body = has_no_body(response.status);
  std::string text = head_text(response, no_body ? std::nullopt : std::optional(bytes));
  if (!head_only && !no_body) {
    text += body;
    exchange_.sent_bytes += bytes;
  }
  const bool sent = co_await wire_->send(text);
  co_return sent;
}

// The head leaves together with the first piece.
awaitable<bool> Connection::send_file(const Outcome& outcome, bool head_only) {
  const bool no_body = has_no_body(outcome.response.status);
  std::string piece =
      head_text(outcome.response, no_body ? std::nullopt : std::optional(outcome.bytes));
  int64_t offset = outcome.first;
  int64_t left = head_only || no_body ? 0 : outcome.bytes;
  do {
    const int64_t wanted = std::min(left, kPieceBytes);
    const SentFile& file = *outcome.file;
    auto read = [&file, offset, wanted, &piece] { return file.read(offset, wanted, piece); };
    bool whole = true;
    if (wanted > 0) whole = co_await on_pool(*state_, read);
    if (!whole) co_return false;  // the file became shorter
    const bool sent = co_await wire_->send(piece);
    if (!sent) co_return false;
    exchange_.sent_bytes += wanted;
    offset += wanted;
    left -= wanted;
    piece.clear();
  } while (left > 0);
  co_return true;
}

}  // namespace hum::serve

#include "serve/http/request_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>

#include "base/text.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;

// What Beast's error means to the client.
Refusal describe(const error_code& error) {
  if (error == http::error::bad_version) return {505, "the HTTP version is not 1.0 or 1.1"};
  if (error == http::error::bad_chunk || error == http::error::bad_chunk_extension) {
    return {400, "the body's chunked encoding is malformed"};
  }
  if (error == http::error::bad_content_length || error == http::error::multiple_content_length) {
    return {400, "Content-Length is not one number"};
  }
  if (error == http::error::bad_transfer_encoding) {
    return {400, "Transfer-Encoding occurs twice or together with Content-Length"};
  }
  if (error == http::error::bad_method || error == http::error::bad_target) {
    return {400, "the request line is not 'METHOD target HTTP/1.1'"};
  }
  return {400, "the request's header is malformed"};
}

}  // namespace

struct RequestParser::Impl : http::basic_parser<true> {
  using Text = boost::beast::string_view;

  Impl(int64_t most_header_bytes, int64_t most_target_bytes)
      : header_bytes(most_header_bytes), target_bytes(most_target_bytes) {
    header_limit(static_cast<std::uint32_t>(most_header_bytes));
    body_limit(boost::none);  // the caller counts
  }

  int64_t header_bytes, target_bytes;
  int64_t head_consumed = 0;
  bool has_start_line = false;
  RequestHead head;
  std::optional<Refusal> refusal;
  const std::function<void(std::string_view)>* content = nullptr;

  void on_request_impl(http::verb, Text method, Text target, int version, error_code&) override {
    has_start_line = true;
    head.method.assign(method.data(), method.size());
    head.target.assign(target.data(), target.size());
    head.http_11 = version == 11;
  }
  void on_response_impl(int, Text, int, error_code&) override {}
  void on_field_impl(http::field, Text name, Text value, error_code&) override {
    if (is_header_done()) return;  // a trailer
    head.headers.add(std::string(name.data(), name.size()),
                     std::string(value.data(), value.size()));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(Text body, error_code&) override {
    if (!body.empty()) (*content)({body.data(), body.size()});
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, error_code& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(error_code&) override {}

  void refuse_long_head(std::string_view rest);
  void finish_head();
};

// The head is longer than allowed; `rest` is what was not consumed of it.
void RequestParser::Impl::refuse_long_head(std::string_view rest) {
  const bool is_target = !has_start_line && rest.substr(0, header_bytes).find("\r\n") == rest.npos;
  refusal = is_target
                ? Refusal{414, fmt::format("the target is longer than {} bytes", target_bytes)}
                : Refusal{431, fmt::format("the header is longer than {} bytes", header_bytes)};
}

void RequestParser::Impl::finish_head() {
  if (static_cast<int64_t>(head.target.size()) > target_bytes) {
    refusal = Refusal{414, fmt::format("the target is longer than {} bytes", target_bytes)};
    return;
  }
  // Beast takes a body in an encoding that it does not know for none.
  const auto encodings = head.headers.all("transfer-encoding");
  if (!encodings.empty()) {
    if (encodings.size() > 1 || lower_case(trimmed(encodings.front())) != "chunked") {
      refusal = Refusal{501, "the only Transfer-Encoding that this server knows is chunked"};
    } else if (!head.http_11) {
      refusal = Refusal{400, "HTTP/1.0 has no Transfer-Encoding"};
    }
  }
  const auto length = content_length();
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<int64_t>::max());
  if (length) head.content_length = static_cast<int64_t>(std::min<std::uint64_t>(*length, kMost));
  head.has_body = !is_done();
  head.keep_alive = head.http_11 && keep_alive();
}

RequestParser::RequestParser(int64_t header_bytes, int64_t target_bytes)
    : impl_(std::make_unique<Impl>(header_bytes, target_bytes)) {}
RequestParser::~RequestParser() = default;

bool RequestParser::got_some() const { return impl_->got_some(); }
bool RequestParser::head_complete() const { return impl_->is_header_done(); }
bool RequestParser::complete() const { return impl_->is_done(); }
const std::optional<Refusal>& RequestParser::refusal() const { return impl_->refusal; }
const RequestHead& RequestParser::head() const { return impl_->head; }

size_t RequestParser::feed_head(std::string_view bytes) {
  Impl& parser = *impl_;
  size_t consumed = 0;
  if (!parser.got_some()) {  // clients of old send an empty line after a body
    while (bytes.substr(consumed).starts_with("\r\n")) consumed += 2;
    if (bytes.substr(consumed) == "\r") return consumed;
  }
  if (parser.refusal || parser.is_header_done() || consumed == bytes.size()) return consumed;
  error_code error;
  const std::string_view rest = bytes.substr(consumed);
  const size_t used = parser.put(boost::asio::const_buffer(rest.data(), rest.size()), error);
  parser.head_consumed += static_cast<int64_t>(used);
  const std::string_view unused = rest.substr(used);
  // Beast's limit counts only what it has not consumed.
  const bool complete = !error && parser.is_header_done();
  const int64_t head_bytes =
      parser.head_consumed + (complete ? 0 : static_cast<int64_t>(unused.size()));
  if (error == http::error::header_limit || head_bytes > parser.header_bytes) {
    parser.refuse_long_head(unused);
  } else if (error && error != http::error::need_more) {
    parser.refusal = describe(error);
  } else if (complete) {
    parser.finish_head();
  }
  return consumed + used;
}

size_t RequestParser::feed_body(std::string_view bytes,
                                const std::function<void(std::string_view)>& content) {
  Impl& parser = *impl_;
  parser.content = &content;
  size_t consumed = 0;
  while (consumed < bytes.size() && !parser.refusal && !parser.is_done()) {
    error_code error;
    const size_t used = parser.put(
        boost::asio::const_buffer(bytes.data() + consumed, bytes.size() - consumed), error);
    consumed += used;
    if (error == http::error::need_more) break;
    if (error) parser.refusal = describe(error);
  }
  parser.content = nullptr;
  return consumed;
}

}  // namespace hum::serve

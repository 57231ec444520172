// Splits a multipart/form-data body (RFC 7578) as it arrives. It stores no more than one part's
// header and a delimiter's length of content; limits of size and number are the sink's business.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hum::serve {

struct PartHead {
  std::string name;          // UTF-8 without control characters, not empty
  std::string file_name;     // as the client wrote it
  std::string content_type;  // "" if the part has none
};

// The boundary of a Content-Type; nullopt if that is not multipart/form-data with a valid one.
std::optional<std::string> multipart_boundary(std::string_view content_type);

class MultipartParser {
 public:
  // The calls come in the order begin, content..., end, for each part. Pieces are never empty and
  // become invalid after the call.
  struct Sink {
    std::function<void(const PartHead&)> begin;
    std::function<void(std::string_view)> content;
    std::function<void()> end;
  };

  MultipartParser(const std::string& boundary, Sink sink);

  // False if the body is malformed: then `error` says how, and further calls return false.
  bool feed(std::string_view bytes);
  // Call it at the end of the body. False if the body is malformed or was cut.
  bool finish();
  const std::string& error() const { return error_; }

 private:
  enum class State { kPreamble, kDelimiter, kHeader, kContent, kEpilogue };

  bool refuse(std::string error);
  // Each returns false if it needs more bytes (or has refused).
  bool step();
  bool find_delimiter();
  bool read_delimiter_end();
  bool read_header();

  std::string delimiter_;  // "\r\n--boundary"
  Sink sink_;
  State state_ = State::kPreamble;
  std::string pending_;  // what is not consumed yet
  size_t start_ = 0;     // of that, in pending_
  std::string error_;
};

}  // namespace hum::serve

#include "serve/http/multipart.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <utility>

#include "base/text.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace {

constexpr size_t kMaxHeaderBytes = 8 << 10;
constexpr size_t kMaxBoundaryBytes = 70;  // RFC 2046
constexpr size_t kMaxPaddingBytes = 256;  // after a delimiter

bool is_token_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// `form-data; name="a"; filename="b"`: a value and its parameters.
struct Field {
  std::string value;  // lower case
  std::map<std::string, std::string> parameters;
};

// Takes a quoted string from the text. Browsers escape only the quote (as %22), curl also the
// backslash; any other backslash is part of a Windows path.
std::optional<std::string> take_quoted(std::string_view& text) {
  std::string value;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    value += text[i];
  }
  return std::nullopt;
}

std::optional<std::string> take_token(std::string_view& text) {
  const size_t end =
      static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_token_char) - text.begin());
  if (end == 0) return std::nullopt;
  std::string value(text.substr(0, end));
  text.remove_prefix(end);
  return value;
}

std::optional<Field> parse_field(std::string_view text) {
  const size_t end = std::min(text.find(';'), text.size());
  Field field{.value = lower_case(trimmed(text.substr(0, end))), .parameters = {}};
  text.remove_prefix(end);
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    if (text.front() != ';') return std::nullopt;
    text = trimmed(text.substr(1));
    if (text.empty()) break;  // a last ';' is common
    const auto name = take_token(text);
    if (!name || !text.starts_with('=')) return std::nullopt;
    text.remove_prefix(1);
    auto value = text.starts_with('"') ? take_quoted(text) : take_token(text);
    if (!value || !field.parameters.emplace(lower_case(*name), std::move(*value)).second) {
      return std::nullopt;
    }
  }
  return field;
}

// What a file is called: `filename*=UTF-8''n%C3%A4me` (RFC 5987) wins over `filename`.
std::string file_name_of(const std::map<std::string, std::string>& parameters) {
  if (const auto extended = parameters.find("filename*"); extended != parameters.end()) {
    const std::string_view value = extended->second;
    const size_t quote = value.find('\'', value.find('\'') + 1);
    const bool utf8 = lower_case(value).starts_with("utf-8'") && quote != value.npos;
    if (auto name = utf8 ? percent_decode(value.substr(quote + 1)) : std::nullopt) return *name;
  }
  const auto plain = parameters.find("filename");
  return plain == parameters.end() ? "" : plain->second;
}

// Adds one line to the head of a part. Returns what is wrong with it, or "".
std::string read_line(std::string_view line, PartHead& head) {
  const size_t colon = line.find(':');
  if (colon == line.npos || colon == 0 ||
      !std::all_of(line.begin(), line.begin() + static_cast<ptrdiff_t>(colon), is_token_char)) {
    return "a part's header has a line that is not 'Name: value'";
  }
  const std::string name = lower_case(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "content-type") {
    if (!is_clean_text(value)) return "a part's Content-Type has control characters";
    head.content_type = value;
  } else if (name == "content-transfer-encoding") {
    const std::string encoding = lower_case(value);
    if (encoding != "binary" && encoding != "8bit" && encoding != "7bit") {
      return "a part is encoded as " + (is_clean_text(encoding) ? encoding : "something unknown") +
             "; send it as it is";
    }
  } else if (name == "content-disposition") {
    if (!head.name.empty()) return "a part has two Content-Dispositions";
    const auto field = parse_field(value);
    if (!field || field->value != "form-data") {
      return "a part's Content-Disposition is not form-data with valid parameters";
    }
    const auto part_name = field->parameters.find("name");
    if (part_name == field->parameters.end() || part_name->second.empty() ||
        !is_clean_text(part_name->second)) {
      return "a part has no valid name";
    }
    head.name = part_name->second;
    head.file_name = file_name_of(field->parameters);
  }
  return "";
}

}  // namespace

std::optional<std::string> multipart_boundary(std::string_view content_type) {
  const auto field = parse_field(content_type);
  if (!field || field->value != "multipart/form-data") return std::nullopt;
  const auto boundary = field->parameters.find("boundary");
  if (boundary == field->parameters.end() || boundary->second.empty() ||
      boundary->second.size() > kMaxBoundaryBytes || !is_clean_text(boundary->second)) {
    return std::nullopt;
  }
  return boundary->second;
}

// The first delimiter may lack its line end: the parser begins behind one.
MultipartParser::MultipartParser(const std::string& boundary, Sink sink)
    : delimiter_("\r\n--" + boundary), sink_(std::move(sink)), pending_("\r\n") {}

bool MultipartParser::refuse(std::string error) {
  error_ = std::move(error);
  return false;
}

bool MultipartParser::feed(std::string_view bytes) {
  if (!error_.empty()) return false;
  if (state_ == State::kEpilogue) return true;
  pending_ += bytes;
  while (step()) {
  }
  pending_.erase(0, start_);
  start_ = 0;
  return error_.empty();
}

bool MultipartParser::finish() {
  if (!error_.empty()) return false;
  if (state_ == State::kEpilogue) return true;
  return refuse(state_ == State::kPreamble ? "the body has no part with the boundary of its header"
                                           : "the body ends before its last boundary");
}

bool MultipartParser::step() {
  switch (state_) {
    case State::kPreamble:
    case State::kContent:
      return find_delimiter();
    case State::kDelimiter:
      return read_delimiter_end();
    case State::kHeader:
      return read_header();
    case State::kEpilogue:
      start_ = pending_.size();
      break;
  }
  return false;
}

bool MultipartParser::find_delimiter() {
  const std::string_view text = std::string_view(pending_).substr(start_);
  const void* found = memmem(text.data(), text.size(), delimiter_.data(), delimiter_.size());
  // Without a delimiter, all but a possible first part of one is content.
  const size_t content = found != nullptr
                             ? static_cast<size_t>(static_cast<const char*>(found) - text.data())
                             : text.size() - std::min(text.size(), delimiter_.size() - 1);
  if (state_ == State::kContent && content > 0) sink_.content(text.substr(0, content));
  start_ += content;
  if (found == nullptr) return false;
  start_ += delimiter_.size();
  if (state_ == State::kContent) sink_.end();
  state_ = State::kDelimiter;
  return true;
}

// After the boundary: "--" ends the body; spaces and a line end begin a part.
bool MultipartParser::read_delimiter_end() {
  const std::string_view text = std::string_view(pending_).substr(start_);
  if (text.size() < 2) return false;
  if (text.starts_with("--")) {
    state_ = State::kEpilogue;
    return true;
  }
  const size_t padding = std::min(text.find_first_not_of(" \t"), text.size());
  if (padding > kMaxPaddingBytes) return refuse("a boundary is followed by too many spaces");
  const std::string_view rest = text.substr(padding);
  if (rest.size() < 2 && std::string_view("\r\n").starts_with(rest)) return false;
  if (!rest.starts_with("\r\n")) return refuse("a boundary is not followed by a line end");
  start_ += padding + 2;
  state_ = State::kHeader;
  return true;
}

bool MultipartParser::read_header() {
  std::string_view text = std::string_view(pending_).substr(start_);
  const size_t end = text.find("\r\n\r\n");
  if (std::min(end, text.size()) > kMaxHeaderBytes) return refuse("a part's header is too long");
  if (text.starts_with("\r\n")) return refuse("a part has no header");
  if (end == text.npos) return false;
  PartHead head;
  std::string_view lines = text.substr(0, end);
  while (!lines.empty()) {
    const size_t line_end = std::min(lines.find("\r\n"), lines.size());
    if (std::string fault = read_line(lines.substr(0, line_end), head); !fault.empty()) {
      return refuse(std::move(fault));
    }
    lines.remove_prefix(std::min(line_end + 2, lines.size()));
  }
  if (head.name.empty()) return refuse("a part has no Content-Disposition");
  start_ += end + 4;
  state_ = State::kContent;
  sink_.begin(head);
  return true;
}

}  // namespace hum::serve

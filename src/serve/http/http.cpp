// Requests, responses and problems: what needs no socket.
#include "serve/http/http.h"

#include <algorithm>
#include <system_error>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace fs = std::filesystem;
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && lower_case(a) == lower_case(b);
}

constexpr int kRetryAfterSeconds = 5;

int status_of(ExitCode code) {
  switch (code) {
    case ExitCode::kUsage:
    case ExitCode::kBadData:
      return 422;
    case ExitCode::kNoInput:
      return 404;
    case ExitCode::kNoPermission:
      return 403;
    case ExitCode::kUnavailable:
    case ExitCode::kTemporary:
      return 503;
    case ExitCode::kCannotCreate:
      return 507;
    case ExitCode::kOk:
    case ExitCode::kFailure:
    case ExitCode::kConfig:
      break;
  }
  return 500;
}

}  // namespace

void Headers::add(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
}

void Headers::set(std::string_view name, std::string value) {
  std::erase_if(fields_, [&](const auto& field) { return same_name(field.first, name); });
  add(std::string(name), std::move(value));
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (same_name(field, name)) return value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [field, value] : fields_) {
    if (same_name(field, name)) values.push_back(value);
  }
  return values;
}

SpooledFile::~SpooledFile() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
}

SpooledFile& SpooledFile::operator=(SpooledFile&& other) noexcept {
  if (this != &other) {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
    path_ = other.release();
  }
  return *this;
}

void SpooledFile::move_to(const fs::path& target) {
  std::error_code error;
  fs::rename(path_, target, error);
  if (error) {
    fail(ExitCode::kCannotCreate, "an upload cannot be stored: " + error.message(),
         "the folders of uploads and of stored files must lie on one file system");
  }
  path_.clear();
}

fs::path SpooledFile::release() {
  fs::path path = std::move(path_);
  path_.clear();
  return path;
}

const std::string& Request::parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  HUM_CHECK(found != parameters.end(), "the route {} has no {{{}}}", route, name);
  return found->second;
}

std::optional<std::string> Request::query_value(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<std::string> Request::cookie(std::string_view name) const {
  for (std::string_view field : headers.all("cookie")) {
    while (!field.empty()) {
      const size_t end = std::min(field.find(';'), field.size());
      const std::string_view pair = trimmed(field.substr(0, end));
      field.remove_prefix(std::min(end + 1, field.size()));
      const size_t equals = pair.find('=');
      if (equals != pair.npos && pair.substr(0, equals) == name) {
        return std::string(pair.substr(equals + 1));
      }
    }
  }
  return std::nullopt;
}

Part* Request::part(std::string_view name) {
  const auto found = std::ranges::find(parts, name, &Part::name);
  return found == parts.end() ? nullptr : &*found;
}

Response json_response(int status, const Json& value) {
  return {.status = status, .content_type = "application/json", .body = to_text(value)};
}

Response problem(int status, std::string detail) { return problem(status, std::move(detail), {}); }

Response problem(int status, std::string detail, const Json& more) {
  Json value = {{"type", "about:blank"},
                {"title", std::string(status_text(status))},
                {"status", status},
                {"detail", std::move(detail)}};
  if (more.is_object()) value.update(more);
  Response response = json_response(status, value);
  response.content_type = "application/problem+json";
  if (status == 503) response.headers.add("Retry-After", std::to_string(kRetryAfterSeconds));
  return response;
}

Response problem(const Error& error) {
  const int status = status_of(error.code());
  if (status == 500) {
    spdlog::error("a request failed: {}", error.message());
    spdlog::debug("thrown at {}", error.where());
    return problem(500, "the server has a fault; its log says more");
  }
  if (status == 507) {  // the message names the server's files
    spdlog::error("a request failed: {}", error.message());
    return problem(507, "the server cannot store anything now");
  }
  // The usual hint of a code is for the command line.
  const bool has_hint = error.hint() != Error(error.code(), "", "").hint();
  return problem(status, error.message(), has_hint ? Json{{"hint", error.hint()}} : Json());
}

std::string_view status_text(int status) {
  static constexpr std::pair<int, std::string_view> kTexts[] = {
      {100, "Continue"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {416, "Range Not Satisfiable"},
      {417, "Expectation Failed"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Content"},
      {425, "Too Early"},
      {428, "Precondition Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {507, "Insufficient Storage"},
  };
  const auto* found = std::ranges::find(kTexts, status, &std::pair<int, std::string_view>::first);
  return found == std::end(kTexts) ? "Unknown" : found->second;
}

}  // namespace hum::serve

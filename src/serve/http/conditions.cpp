#include "serve/http/conditions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/text.h"
#include "serve/http/url.h"

namespace hum::serve {
namespace {

// A number of only digits; too large ones become the largest.
std::optional<int64_t> parse_count(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() ? value : std::numeric_limits<int64_t>::max();
}

// nullopt: the field asks for nothing that is understood.
std::optional<Selection> parse_range(std::string_view field, int64_t size_bytes) {
  const size_t equals = field.find('=');
  if (equals == field.npos || lower_case(trimmed(field.substr(0, equals))) != "bytes") {
    return std::nullopt;
  }
  const std::string_view range = trimmed(field.substr(equals + 1));
  const size_t dash = range.find('-');
  if (dash == range.npos) return std::nullopt;
  const auto first = parse_count(range.substr(0, dash));
  const auto last = parse_count(range.substr(dash + 1));
  if (!first && dash == 0 && last) {  // the last n bytes
    const int64_t bytes = std::min(*last, size_bytes);
    if (bytes == 0) return Selection{.status = 416};
    return Selection{.status = 206, .first = size_bytes - bytes, .bytes = bytes};
  }
  if (!first || (!last && dash + 1 != range.size()) || (last && *last < *first)) {
    return std::nullopt;
  }
  if (*first >= size_bytes) return Selection{.status = 416};
  const int64_t end = last ? std::min(*last, size_bytes - 1) + 1 : size_bytes;
  return Selection{.status = 206, .first = *first, .bytes = end - *first};
}

bool is_unchanged(const Request& request, std::string_view etag, std::string_view last_modified) {
  if (const auto field = request.headers.find("if-none-match")) return names_etag(*field, etag);
  const auto since = request.headers.find("if-modified-since");
  return since && trimmed(*since) == last_modified;
}

}  // namespace

std::string http_date(std::time_t time) {
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday,
                     kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

bool names_etag(std::string_view field, std::string_view etag) {
  const auto opaque = [](std::string_view tag) {
    return tag.starts_with("W/") ? tag.substr(2) : tag;
  };
  if (trimmed(field) == "*") return true;
  return std::ranges::any_of(split_list(field),
                             [&](std::string_view tag) { return opaque(tag) == opaque(etag); });
}

Selection select_bytes(const Request& request, int64_t size_bytes, std::string_view etag,
                       std::string_view last_modified) {
  const Headers& headers = request.headers;
  if (const auto field = headers.find("if-match"); field && trimmed(*field) != "*") {
    const auto tags = split_list(*field);
    if (std::ranges::find(tags, etag) == tags.end()) return {.status = 412};
  }
  if (is_unchanged(request, etag, last_modified)) return {.status = 304};
  const Selection whole{.status = 200, .first = 0, .bytes = size_bytes};
  const auto range = headers.find("range");
  if (!range || request.method != "GET") return whole;
  if (const auto condition = headers.find("if-range")) {
    const std::string_view value = trimmed(*condition);
    if (value != etag && value != last_modified) return whole;
  }
  return parse_range(*range, size_bytes).value_or(whole);
}

}  // namespace hum::serve

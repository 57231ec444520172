#include "serve/http/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace hum::serve {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The bytes of the UTF-8 character at the start of `text`; 0 if it is not one.
size_t character_bytes(std::string_view text) {
  const auto at = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  // Longer than necessary, half of a UTF-16 pair, or above U+10FFFF.
  const bool invalid = (first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) >= 0xA0) ||
                       (first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) >= 0x90);
  return invalid ? 0 : length;
}

bool may_be_name(const std::string& segment) {
  return segment != "." && segment != ".." && is_clean_text(segment) &&
         segment.find_first_of("/\\") == segment.npos;
}

bool parse_query(std::string_view text, Target& target) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto name = percent_decode(pair.substr(0, equals), true);
    auto value = percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value || !is_clean_text(*name) || !is_clean_text(*value)) return false;
    target.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

// Moves "http://host" from the text to the target.
bool take_authority(std::string_view& text, Target& target) {
  if (text.starts_with('/')) return true;
  const size_t scheme = text.find("://");
  if (scheme == text.npos) return false;
  const std::string name = lower_case(text.substr(0, scheme));
  if (name != "http" && name != "https") return false;
  text.remove_prefix(scheme + 3);
  const size_t end = std::min(text.find_first_of("/?"), text.size());
  target.authority = text.substr(0, end);
  text.remove_prefix(end);
  return !target.authority.empty();
}

}  // namespace

bool is_ip_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

bool is_clean_text(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const size_t bytes = character_bytes(text);
    if (bytes == 0 || first < 0x20 || first == 0x7F) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::optional<std::string> percent_decode(std::string_view text, bool form) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += form && text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.size() <= 1) return segments;
  path.remove_prefix(1);
  for (;;) {
    const size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == path.npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

std::optional<Target> parse_target(std::string_view text) {
  Target target;
  if (text.find('#') != text.npos || !take_authority(text, target)) return std::nullopt;
  const size_t mark = std::min(text.find('?'), text.size());
  target.path = text.substr(0, mark);
  if (target.path.empty()) target.path = "/";
  for (const std::string_view segment : split_path(target.path)) {
    auto decoded = percent_decode(segment);
    if (!decoded || !may_be_name(*decoded)) return std::nullopt;
    target.segments.push_back(std::move(*decoded));
  }
  if (mark < text.size() && !parse_query(text.substr(mark + 1), target)) return std::nullopt;
  return target;
}

std::vector<std::string_view> split_list(std::string_view field) {
  std::vector<std::string_view> entries;
  while (!field.empty()) {
    const size_t comma = std::min(field.find(','), field.size());
    const std::string_view entry = trimmed(field.substr(0, comma));
    if (!entry.empty()) entries.push_back(entry);
    field.remove_prefix(std::min(comma + 1, field.size()));
  }
  return entries;
}

}  // namespace hum::serve

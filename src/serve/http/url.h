// Splits and decodes request targets; recognizes addresses. Pure functions on text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hum::serve {

// Whether the text is an IPv4 or IPv6 address.
bool is_ip_address(const std::string& text);

// UTF-8 without control characters.
bool is_clean_text(std::string_view text);

// "a%20b" -> "a b"; with `form` also "a+b". nullopt if a % lacks its two digits.
std::optional<std::string> percent_decode(std::string_view text, bool form = false);

struct Target {
  std::string authority;              // of the absolute form, "http://host/path"; else ""
  std::string path;                   // as sent
  std::vector<std::string> segments;  // decoded; "/" has none, "/a/" has "a" and ""
  std::vector<std::pair<std::string, std::string>> query;
};

// nullopt if the target is malformed, or a decoded segment could mislead who uses it as a name:
// ".",
// "..", with "/", "\" or control characters, or not UTF-8.
std::optional<Target> parse_target(std::string_view target);

// "/v1/jobs/{id}" -> {"v1", "jobs", "{id}"}.
std::vector<std::string_view> split_path(std::string_view path);

// The entries of a comma-separated header field, trimmed, without empty ones.
std::vector<std::string_view> split_list(std::string_view field);

}  // namespace hum::serve

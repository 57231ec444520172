#include "base/bytes.h"

#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/error.h"

namespace hum {
namespace {

struct Unit {
  std::string_view name;  // lower case
  double bytes;
};
constexpr Unit kUnits[] = {{"", 1},         {"b", 1},       {"kb", 1e3},     {"mb", 1e6},
                           {"gb", 1e9},     {"tb", 1e12},   {"kib", 0x1p10}, {"mib", 0x1p20},
                           {"gib", 0x1p30}, {"tib", 0x1p40}};

// By a table of digits: the constants of a program are megabytes.
std::string hex_of(std::string_view bytes, std::string_view digits) {
  std::string text(2 * bytes.size(), '0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text[2 * i] = digits[byte >> 4U];
    text[2 * i + 1] = digits[byte & 15U];
  }
  return text;
}

}  // namespace

std::string format_bytes(int64_t bytes) {
  constexpr std::string_view kNames[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(amount) >= 999.5 && unit + 1 < std::size(kNames)) {
    amount /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", amount, decimals, kNames[unit]);
}

int64_t parse_bytes(std::string_view text) {
  const std::string whole(text);
  char* end = nullptr;
  const double amount = std::strtod(whole.c_str(), &end);
  std::string unit;
  for (const char* c = end; *c != '\0'; ++c) {
    if (*c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  }
  for (const auto& [name, bytes] : kUnits) {
    if (end == whole.c_str() || name != unit || !std::isfinite(amount) || amount < 0) continue;
    return static_cast<int64_t>(amount * bytes);
  }
  fail(ExitCode::kConfig, fmt::format("'{}' is not an amount of memory", text),
       "write 512MB, 6GB or 1.5GiB");
}

std::string to_hex(std::string_view bytes) { return hex_of(bytes, "0123456789abcdef"); }

std::string to_upper_hex(std::string_view bytes) { return hex_of(bytes, "0123456789ABCDEF"); }

}  // namespace hum

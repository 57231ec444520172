// Damages valid files for tests of the code that reads them: bits, bytes, chunks, sizes, numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/rng.h"

namespace hum::mutation {

namespace internal {

inline size_t place(const std::string& bytes, Rng& rng) {
  return static_cast<size_t>(rng.integer(0, std::max<int64_t>(0, std::ssize(bytes) - 1)));
}

// Headers decide what the rest means, so half of the places are among the first 128 bytes.
inline size_t likely_place(const std::string& bytes, Rng& rng) {
  const size_t at = place(bytes, rng);
  return rng.chance(0.5) ? at : std::min(at, static_cast<size_t>(rng.integer(0, 127)));
}

inline void replace_number(std::string& text, Rng& rng) {
  constexpr std::string_view kDigits = "0123456789", kNumber = "0123456789.+-eE";
  constexpr std::string_view kOdd[] = {"",        "-1",    "0",          "1e999",
                                       "-1e-999", "nan",   "inf",        "0x7",
                                       "1.5.",    "\"7\"", "4294967296", "9223372036854775808"};
  const size_t found = text.find_first_of(kDigits, place(text, rng));
  if (found == std::string::npos) return;
  const size_t end = std::min(text.find_first_not_of(kNumber, found), text.size());
  text.replace(found, end - found, kOdd[rng.integer(0, std::ssize(kOdd) - 1)]);
}

// A 32-bit little-endian field becomes 0, all ones, the largest or the smallest integer, or small.
inline void replace_field(std::string& bytes, Rng& rng) {
  const uint32_t values[] = {0, 0xffffffff, 0x7fffffff, 0x80000000,
                             static_cast<uint32_t>(rng.integer(1, 1000))};
  const uint32_t value = values[rng.integer(0, std::ssize(values) - 1)];
  const size_t at = likely_place(bytes, rng);
  for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
    bytes[at + i] = static_cast<char>(value >> (8 * i));
  }
}

inline void swap_chunks(std::string& bytes, Rng& rng) {
  const size_t a = likely_place(bytes, rng), b = place(bytes, rng);
  const auto longest = static_cast<int64_t>(bytes.size() - std::max(a, b));
  const auto length = static_cast<size_t>(rng.integer(1, std::clamp<int64_t>(longest, 1, 256)));
  for (size_t i = 0; i < length && std::max(a, b) + i < bytes.size(); ++i) {
    std::swap(bytes[a + i], bytes[b + i]);
  }
}

inline void insert_bytes(std::string& bytes, Rng& rng) {
  std::string more(static_cast<size_t>(rng.integer(1, 64)), '\0');
  for (char& byte : more) byte = static_cast<char>(rng.integer(0, 255));
  bytes.insert(likely_place(bytes, rng), more);
}

inline void damage_once(std::string& bytes, Rng& rng) {
  const size_t at = likely_place(bytes, rng);
  const auto some = static_cast<size_t>(rng.integer(1, 200));
  switch (rng.integer(0, 8)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.integer(0, 7)));
      break;
    case 1:
      bytes[at] = static_cast<char>(rng.integer(0, 255));
      break;
    case 2:
      bytes.resize(place(bytes, rng));
      break;
    case 3:
      bytes.erase(at, some);
      break;
    case 4:
      bytes.insert(at, bytes.substr(place(bytes, rng), some));
      break;
    case 5:
      insert_bytes(bytes, rng);
      break;
    case 6:
      swap_chunks(bytes, rng);
      break;
    case 7:
      replace_field(bytes, rng);
      break;
    default:
      replace_number(bytes, rng);
  }
}

}  // namespace internal

// A copy with one to four kinds of damage.
inline std::string damaged(std::string bytes, Rng& rng) {
  for (int64_t times = rng.integer(1, 4); times > 0 && !bytes.empty(); --times) {
    internal::damage_once(bytes, rng);
  }
  return bytes;
}

}  // namespace hum::mutation

// Test helper: deterministic numbers that tools/golden/rule.py reproduces bit for bit, so that
// golden files need not store inputs and weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hum::testing {

// Uniform in [low, high). Element i depends only on the name and on i.
inline std::vector<float> ruled(std::string_view name, size_t count, double low = -1,
                                double high = 1) {
  uint32_t seed = 0x811C9DC5;  // FNV-1a
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x01000193u;
  std::vector<float> numbers;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = seed + static_cast<uint32_t>(i) * 0x9E3779B9u;
    bits = (bits ^ (bits >> 16)) * 0x7FEB352Du;
    bits = (bits ^ (bits >> 15)) * 0x846CA68Bu;
    bits ^= bits >> 16;
    numbers.push_back(static_cast<float>(low + (high - low) * ((bits >> 8) * 0x1p-24)));
  }
  return numbers;
}

}  // namespace hum::testing

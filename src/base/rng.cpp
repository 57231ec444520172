#include "base/rng.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace hum {

std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter) {
  constexpr uint32_t kParity = 0x1BD11BDA;
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ kParity};
  uint32_t x0 = counter[0] + keys[0];
  uint32_t x1 = counter[1] + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[(group + 1) % 3];
    x1 += keys[(group + 2) % 3] + group + 1;
  }
  return {x0, x1};
}

std::array<uint32_t, 2> stream_key(uint64_t seed, std::string_view name, uint64_t index) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  auto words = [](uint64_t x) {
    return std::array<uint32_t, 2>{static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32)};
  };
  return threefry2x32(threefry2x32(words(seed), words(hash)), words(index));
}

uint32_t Rng::bits() {
  if (counter_ % 2 == 0) {
    const uint64_t block = counter_ / 2;
    block_ = threefry2x32(key_, {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32)});
  }
  return block_[counter_++ % 2];
}

double Rng::uniform() { return (bits() >> 8) * 0x1p-24; }

int64_t Rng::integer(int64_t low, int64_t high) {
  HUM_REQUIRE(low <= high, "Rng::integer: empty range {}..{}", low, high);
  return low + static_cast<int64_t>(uniform() * static_cast<double>(high - low + 1));
}

double Rng::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace hum

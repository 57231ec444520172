// Counter-based random numbers on the host: the same Threefry bits that graph::random_bits produces
// on a device.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hum {

// Threefry-2x32 with 20 rounds. Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1,
// 2, 3".
std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter);

// The key of a named stream: maps (seed, name, index) to two words. Used for parameters (name =
// dotted path, index = step) and for data (name = "melody", index = item).
std::array<uint32_t, 2> stream_key(uint64_t seed, std::string_view name, uint64_t index);

// A random number stream that depends only on its key.
class Rng {
 public:
  explicit Rng(std::array<uint32_t, 2> key) : key_(key) {}
  Rng(uint64_t seed, std::string_view name, uint64_t index = 0)
      : Rng(stream_key(seed, name, index)) {}

  uint32_t bits();
  // Uniform in [0, 1), 24 bits.
  double uniform();
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Uniform in [low, high], both ends included.
  int64_t integer(int64_t low, int64_t high);
  // Standard normal (Box-Muller).
  double normal();
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::array<uint32_t, 2> key_;
  uint64_t counter_ = 0;
  std::array<uint32_t, 2> block_{};
};

}  // namespace hum

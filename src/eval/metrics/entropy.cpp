#include "eval/metrics/entropy.h"

#include <cmath>
#include <vector>

#include "base/error.h"

namespace hum::eval {

double codebook_entropy_bits(std::span<const int32_t> tokens, int codebook_size) {
  std::vector<int64_t> counts(static_cast<size_t>(codebook_size));
  for (const int32_t token : tokens) {
    HUM_REQUIRE(token >= 0 && token < codebook_size, "entropy: token {} of a codebook of {}", token,
                codebook_size);
    ++counts[static_cast<size_t>(token)];
  }
  double bits = 0;
  for (const int64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(tokens.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

}  // namespace hum::eval

#include "eval/metrics/codebook_use.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace hum::eval {
namespace {

std::vector<int64_t> counts_of(std::span<const int32_t> tokens, int codebook_size) {
  std::vector<int64_t> counts(static_cast<size_t>(codebook_size));
  for (const int32_t token : tokens) {
    HUM_REQUIRE(token >= 0 && token < codebook_size, "token {} of a codebook of {}", token,
                codebook_size);
    ++counts[static_cast<size_t>(token)];
  }
  return counts;
}

}  // namespace

std::vector<int32_t> tokens_of_book(std::span<const int32_t> codes, int64_t book, int64_t books) {
  std::vector<int32_t> tokens;
  for (auto at = static_cast<size_t>(book); at < codes.size(); at += static_cast<size_t>(books)) {
    tokens.push_back(codes[at]);
  }
  return tokens;
}

double codebook_entropy_bits(std::span<const int32_t> tokens, int codebook_size) {
  double bits = 0;
  for (const int64_t count : counts_of(tokens, codebook_size)) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(tokens.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

double codebook_share_used(std::span<const int32_t> tokens, int codebook_size) {
  const auto counts = counts_of(tokens, codebook_size);
  return 1 - static_cast<double>(std::ranges::count(counts, 0)) / codebook_size;
}

}  // namespace hum::eval

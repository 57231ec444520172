// How far a codec uses its codebooks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hum::eval {

// The tokens of one book. Shapes: codes [frames, books] -> [frames].
std::vector<int32_t> tokens_of_book(std::span<const int32_t> codes, int64_t book, int64_t books);

// Entropy of the tokens' distribution in bits: log2(codebook_size) when all are used equally. 0
// without tokens. Throws: kFailure when a token is outside [0, codebook_size).
double codebook_entropy_bits(std::span<const int32_t> tokens, int codebook_size);

// The share of a codebook's entries that occur among the tokens, 0 to 1. Throws: as above.
double codebook_share_used(std::span<const int32_t> tokens, int codebook_size);

}  // namespace hum::eval

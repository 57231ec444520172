// How far a codec uses its codebooks.
#pragma once

#include <cstdint>
#include <span>

namespace hum::eval {

// Entropy of the tokens' distribution in bits: log2(codebook_size) when all are used equally. 0
// without tokens. Throws: kFailure when a token is outside [0, codebook_size).
double codebook_entropy_bits(std::span<const int32_t> tokens, int codebook_size);

// The share of a codebook's entries that occur among the tokens, 0 to 1. Throws: as above.
double codebook_share_used(std::span<const int32_t> tokens, int codebook_size);

}  // namespace hum::eval

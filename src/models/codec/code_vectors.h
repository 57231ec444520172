// Converts codec tokens to latents on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/host_tensor.h"

namespace hum::models::codec {

// Sums the code vectors of each frame over the first `used` columns; column c uses book c * step.
// Shapes: codebooks f32[K, E, D], codes [T, K / step] -> [T, D]. Throws: kFailure when codes are
// not whole frames or are out of range.
std::vector<float> sum_code_vectors(const runtime::HostTensor& codebooks,
                                    std::span<const int32_t> codes, int64_t used, int64_t step = 1);

// The first `kept` books of each frame. Shapes: codes [T, books] -> [T, kept].
std::vector<int32_t> first_books(std::span<const int32_t> codes, int64_t books, int64_t kept);

// Combines the codebooks of several channels into one codec: books are interleaved, and each
// channel's vectors occupy separate dims of a latent of all channels.
// Shapes: C channels, f32[K, E, D] -> [K C, E, D C].
runtime::HostTensor side_by_side(const runtime::HostTensor& codebooks, int64_t channels);

}  // namespace hum::models::codec

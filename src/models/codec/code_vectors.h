// Codec tokens as latents, on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/host_tensor.h"

namespace hum::models::codec {

// The sum of each frame's code vectors, of the first `used` columns; column c is of book c * step.
// Shapes: codebooks f32[K, E, D], codes [T, K / step] -> [T, D]. Throws: kFailure when codes are
// not whole frames or name no entry.
std::vector<float> sum_code_vectors(const runtime::HostTensor& codebooks,
                                    std::span<const int32_t> codes, int64_t used, int64_t step = 1);

// Codebooks of several channels as one codec: their books take turns, and the vectors of each
// channel have a place of their own in a latent that holds all of them.
// Shapes: C channels, f32[K, E, D] -> [K C, E, D C].
runtime::HostTensor side_by_side(const runtime::HostTensor& codebooks, int64_t channels);

}  // namespace hum::models::codec

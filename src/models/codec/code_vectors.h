// Codec tokens as latents, on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/host_tensor.h"

namespace hum::models::codec {

// The sum of each frame's code vectors, of the first `used` books. Shapes: codebooks f32[K, E, D],
// codes [T, K] -> [T, D]. Throws: kFailure when codes are not whole frames or name no entry.
std::vector<float> sum_code_vectors(const runtime::HostTensor& codebooks,
                                    std::span<const int32_t> codes, int64_t used);

}  // namespace hum::models::codec

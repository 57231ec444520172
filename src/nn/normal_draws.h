// Many standard normals of one stream of random numbers at a time, for the initial values of large
// tensors: Rng::normal draws one in about 60 ns, which is most of what a training run waits for.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/cpu_features.h"

namespace hum::nn {

// Fills `values` with what Rng(key).normal() gives call by call, without draws beyond two
// deviations, times `scale`. The draws differ from Rng's by a few units in the last place of a
// double, so one float in some hundred million differs in its last bit; they are the same on every
// instruction set.
void truncated_normals(std::array<uint32_t, 2> key, double scale, std::span<float> values,
                       kernels::Isa isa = kernels::chosen_isa());

}  // namespace hum::nn

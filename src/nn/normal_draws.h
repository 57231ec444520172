// Draws many standard normals from one random stream at once, for initializing large tensors:
// Rng::normal takes about 60 ns per number, which would dominate a training run's start-up.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/cpu_features.h"

namespace hum::nn {

// Fills `values` with the successive results of Rng(key).normal() times `scale`, skipping draws
// beyond two standard deviations. The draws differ from Rng's by a few units in the last place of a
// double, so about one float in a hundred million differs in its last bit; they are identical on
// all instruction sets.
void truncated_normals(std::array<uint32_t, 2> key, double scale, std::span<float> values,
                       kernels::Isa isa = kernels::chosen_isa());

}  // namespace hum::nn

// The inputs of the stages (stages.h), made of windows.
//
// T = kWindowFrames, D latent size, M melody features, K coarse books.
#pragma once

#include <cstdint>
#include <span>

#include "models/batched_program.h"
#include "models/humming/config.h"
#include "models/humming/humming_session.h"
#include "models/humming/sampling_options.h"
#include "models/humming/upsampler.h"

namespace hum::models::humming {

// Shapes: [T, D].
runtime::HostTensor latents_of(const CommonConfig& common, std::span<const float> values);
// As many features as the model reads. Shapes: [T, M or more] -> [T, M].
runtime::HostTensor melody_of(const CommonConfig& common, std::span<const float> values);
// Shapes: [T K] -> [T, K].
runtime::HostTensor tokens_of(std::span<const int32_t> tokens);

// The first inputs of most stages: melody, reference and its frames.
Row told(const CommonConfig& common, const Window& window);

// Adds the upsampler's last input, if it attends. Throws: kBadData if the reference's melody is
// unknown.
void add_reference_melody(const Upsampler& upsampler, const Window& window, Row& row);

// A row of token_stage. `apart`: with a separate guidance of the timbre.
Row token_row(const CommonConfig& common, const Window& window, std::span<const float> draft,
              const SamplingOptions& sampling, bool apart);

}  // namespace hum::models::humming

// For tests: tiny weights of Spleeter, and songs of noise. Those of our separator are in
// models/testing.h.
#pragma once

#include <filesystem>

#include "audio/buffer.h"
#include "base/fields_json.h"
#include "base/rng.h"
#include "models/spleeter/model.h"
#include "runtime/weights.h"

namespace hum::app::testing {

// Writes the folder itself.
inline void write_tiny_spleeter(const std::filesystem::path& folder) {
  models::spleeter::SpleeterConfig config{.window_samples = 512,
                                          .hop_samples = 128,
                                          .frames = 32,
                                          .bins = 128,
                                          .width = 2,
                                          .levels = 2};
  const models::spleeter::Spleeter model(config);
  runtime::Weights weights{{{"model_type", "spleeter"}, {"model", to_json(config)}}, {}};
  for (const auto& parameter : model.parameters().all()) {
    const auto values = nn::initial_elements(parameter, 3);
    weights.tensors.emplace_back(
        parameter.name,
        runtime::HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  }
  runtime::write_weights(folder, weights, graph::DType::kF32);
}

inline audio::AudioBuffer noise(int rate_hz, int channels, int64_t frames, double level = 0.1) {
  Rng rng(6, "song");
  audio::AudioBuffer song{rate_hz, channels, {}};
  for (int64_t i = 0; i < frames * channels; ++i) {
    song.samples.push_back(static_cast<float>(level * rng.normal()));
  }
  return song;
}

}  // namespace hum::app::testing

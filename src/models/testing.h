// Every trained model at a tiny size, for tests. Programs work with them, but their values are
// meaningless. They fit together: books, entries and latents are the tiny codec's.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/json.h"
#include "base/rng.h"
#include "models/registry.h"
#include "runtime/weights.h"

namespace hum::models {

// A configuration by model_type; null when there is none yet.
inline Json tiny_config(std::string_view name) {
  static const std::map<std::string, const char*, std::less<>> kConfigs = {
      {"codec", R"({"latent": 8, "encoder_width": 16, "encoder_blocks": 1, "decoder_width": 16,
                    "decoder_blocks": 1, "fine_width": 16, "fine_blocks": 1,
                    "quantizer": {"books": 4, "entries": 32}})"},
      {"voice", R"({"common": {"latent": 8, "books": 4, "entries": 32}, "width": 16, "blocks": 1,
                    "fine_width": 16, "fine_blocks": 1})"},
      {"upsampler", R"({"common": {"latent": 8, "books": 4, "entries": 32}, "width": 16,
                        "blocks": 1})"},
      {"predictor", R"({"common": {"latent": 8, "books": 4, "entries": 32}, "width": 16,
                        "blocks": 1, "classified_books": 1})"},
      {"joint", R"({"predictor": {"common": {"latent": 8, "books": 4, "entries": 32}, "width": 16,
                                  "blocks": 1, "classified_books": 1},
                    "voice": {"common": {"latent": 8, "books": 4, "entries": 32}, "width": 16,
                              "blocks": 1, "fine_width": 16, "fine_blocks": 1}})"},
      {"coarse", R"({"common": {"latent": 8, "books": 4, "entries": 32}, "vocabulary": 33,
                     "melody_blocks": 1, "melody_width": 16,
                     "transformer": {"layers": 1, "width": 32, "heads": 2, "kv_heads": 2,
                                     "feed_forward": 32}})"},
      {"ear", R"({"channels": 4, "pitch_blocks": 1, "width": 16, "blocks": 1, "kernel": 5})"},
      {"separator", R"({"window_samples": 512, "hop_samples": 128, "bands": 4, "frames": 24,
                        "width": 16, "blocks": 1, "heads": 2, "mask_width": 16})"},
      {"classifier", R"({"presets": ["violin", "acoustic-grand-piano"], "bands": 8, "width": 8,
                         "embedding": 8, "blocks": 1})"},
  };
  const auto found = kConfigs.find(name);
  return found == kConfigs.end() ? Json() : parse_json(found->second);
}

// Buffers start as zeros, but a codebook of zeros would make all tokens equal.
inline std::vector<float> tiny_elements(const nn::Parameter& parameter) {
  auto values = nn::initial_elements(parameter, 5);
  if (parameter.trainable) return values;
  Rng rng(5, parameter.name);
  for (float& value : values) value = static_cast<float>(0.3 * rng.normal());
  return values;
}

// Untrained weights of a tiny model, as its part of a folder of weights. `changes`: fields of the
// configuration that differ from tiny_config.
inline void write_tiny_weights(const std::filesystem::path& folder, std::string_view name,
                               const Json& changes = Json::object()) {
  Json config = tiny_config(name);
  config.update(changes);
  const auto model = find_model(name)->configuration->make(config);
  runtime::Weights weights{
      {{"model_type", fmt::format("hum-{}", name)}, {"model", model->config()}}, {}};
  for (const auto& parameter : model->parameters().all()) {
    const auto values = tiny_elements(parameter);
    weights.tensors.emplace_back(
        parameter.name,
        runtime::HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  }
  runtime::write_weights(folder / name, weights);
}

// FOLDER/separator, with stems that differ: an untrained head would find them equal.
inline void write_tiny_separator(const std::filesystem::path& folder) {
  write_tiny_weights(folder, "separator");
  runtime::Weights weights = runtime::read_weights(folder / "separator");
  for (auto& [name, tensor] : weights.tensors) {
    if (name.find("head.weight") == std::string::npos) continue;
    auto values = tensor.to_floats();
    for (float& value : values) value *= 40;
    tensor = runtime::HostTensor::of(tensor.shape().dims, std::span<const float>(values));
  }
  runtime::write_weights(folder / "separator", weights);
}

}  // namespace hum::models

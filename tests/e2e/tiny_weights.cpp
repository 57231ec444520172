#include "tests/e2e/tiny_weights.h"

#include "base/fields_json.h"
#include "base/rng.h"
#include "models/codec/codec.h"
#include "models/codec/token_file.h"
#include "models/humming/coarse.h"
#include "models/humming/upsampler.h"
#include "models/humming/voice.h"
#include "models/preset_classifier/model.h"
#include "runtime/weights.h"

namespace hum::e2e {
namespace {

// Buffers start as zeros; a codebook of zeros would make every token the same.
std::vector<float> elements_of(const nn::Parameter& parameter) {
  auto values = nn::initial_elements(parameter, 5);
  if (parameter.trainable) return values;
  Rng rng(5, parameter.name);
  for (float& value : values) value = static_cast<float>(0.3 * rng.normal());
  return values;
}

template <typename Config>
void write(const std::filesystem::path& folder, const std::string& name, Config config,
           const nn::ParameterList& parameters) {
  runtime::Weights weights{{{"model_type", "hum-" + name}, {"model", to_json(config)}}, {}};
  for (const auto& parameter : parameters.all()) {
    const auto values = elements_of(parameter);
    weights.tensors.emplace_back(
        parameter.name,
        runtime::HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  }
  runtime::write_weights(folder / name, weights);
}

}  // namespace

void write_tiny_weights(const std::filesystem::path& folder) {
  using namespace models;
  codec::CodecConfig codec_config;
  codec_config.latent = 8;
  codec_config.encoder_width = codec_config.decoder_width = codec_config.fine_width = 16;
  codec_config.encoder_blocks = codec_config.decoder_blocks = codec_config.fine_blocks = 1;
  codec_config.quantizer.books = 4;
  codec_config.quantizer.entries = 32;
  write(folder, "codec", codec_config, codec::Codec(codec_config).parameters());

  const humming::CommonConfig common{.latent = 8, .books = 4, .entries = 32};
  const humming::VoiceConfig voice{
      .common = common, .width = 16, .blocks = 1, .fine_width = 16, .fine_blocks = 1};
  write(folder, "voice", voice, humming::Voice(voice).parameters());
  const humming::UpsamplerConfig upsampler{.common = common, .width = 16, .blocks = 1};
  write(folder, "upsampler", upsampler, humming::Upsampler(upsampler).parameters());
  humming::CoarseConfig coarse;
  coarse.common = common;
  coarse.vocabulary = 33;
  coarse.melody_blocks = 1;
  coarse.melody_width = 16;
  coarse.transformer.layers = 1;
  coarse.transformer.width = 32;
  coarse.transformer.heads = coarse.transformer.kv_heads = 2;
  coarse.transformer.feed_forward = 32;
  write(folder, "coarse", coarse, humming::Coarse(coarse).parameters());
}

void write_tiny_references(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "references");
  for (const char* preset : {"violin", "acoustic-grand-piano"}) {
    models::codec::TokenFile tokens{.books = 4, .samples = 100 * models::codec::kHopSamples};
    for (int32_t i = 0; i < 400; ++i) tokens.codes.push_back(i % 32);
    write_token_file(folder / "references" / (std::string(preset) + ".safetensors"), tokens);
  }
}

void write_tiny_classifier(const std::filesystem::path& folder) {
  models::preset_classifier::PresetClassifierConfig config;
  config.presets = {"violin", "acoustic-grand-piano"};
  config.bands = config.width = config.embedding = 8;
  config.blocks = 1;
  write(folder, "classifier", config,
        models::preset_classifier::PresetClassifier(config).parameters());
}

}  // namespace hum::e2e

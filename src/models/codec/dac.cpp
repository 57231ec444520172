#include "models/codec/dac.h"

#include <ranges>

#include "base/error.h"

namespace hum::models::codec {

namespace {

constexpr int64_t kDilations[] = {1, 3, 9};

void require_field(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  fail(ExitCode::kConfig, fmt::format("{} is {}, it must be {} to {}", name, value, low, high));
}

void require_rates(const char* name, const std::vector<int64_t>& rates) {
  require_field(fmt::format("number of {}", name).c_str(), static_cast<int64_t>(rates.size()), 1,
                8);
  for (const int64_t rate : rates) require_field(name, rate, 1, 64);
}

DacConv::Options resampling(int64_t rate, bool transposed) {
  return {.kernel = 2 * rate, .stride = rate, .padding = (rate + 1) / 2, .transposed = transposed};
}

Value declare_alpha(const nn::Scope& scope, int64_t channels) {
  return scope.declare("alpha", {1, channels, 1}, nn::Init::ones());
}

}  // namespace

void require_valid(const DacConfig& config) {
  constexpr int64_t kMost = 1 << 16;
  require_rates("encoder_rates", config.encoder_rates);
  require_rates("decoder_rates", config.decoder_rates);
  require_field("encoder_dim", config.encoder_dim, 1, kMost);
  require_field("latent_dim", config.latent_dim, 0, kMost);
  // The last block must keep at least one channel.
  require_field("decoder_dim", config.decoder_dim, int64_t{1} << config.decoder_rates.size(),
                kMost);
  require_field("n_codebooks", config.n_codebooks, 1, 256);
  require_field("codebook_size", config.codebook_size, 1, kMost);
  require_field("codebook_dim", config.codebook_dim, 1, kMost);
  require_field("sample_rate", config.sample_rate_hz, 1, 1000000);
}

Dac::Dac(const DacConfig& config, DacWeights weights) : config_(config) {
  require_valid(config);
  const nn::Scope scope(parameters_);
  declare_encoder(scope.child("encoder.block"), weights);
  quantizer_ = DacQuantizer(scope.child("quantizer"), weights, config);
  declare_decoder(scope.child("decoder.model"), weights);
}

Dac::Block Dac::encoder_block(const nn::Scope& scope, DacWeights weights, int64_t in,
                              int64_t rate) {
  Block block;
  for (int i = 0; i < 3; ++i) {
    block.units[i] = DacResidualUnit(scope.child(std::to_string(i)), weights, in, kDilations[i]);
  }
  block.alpha = declare_alpha(scope.child("3"), in);
  block.resample = DacConv(scope.child("4"), weights, in, 2 * in, resampling(rate, false));
  return block;
}

Dac::Block Dac::decoder_block(const nn::Scope& scope, DacWeights weights, int64_t in, int64_t out,
                              int64_t rate) {
  Block block;
  block.alpha = declare_alpha(scope.child("0"), in);
  block.resample = DacConv(scope.child("1"), weights, in, out, resampling(rate, true));
  for (int i = 0; i < 3; ++i) {
    block.units[i] =
        DacResidualUnit(scope.child(std::to_string(i + 2)), weights, out, kDilations[i]);
  }
  return block;
}

void Dac::declare_encoder(const nn::Scope& scope, DacWeights weights) {
  int64_t channels = config_.encoder_dim, place = 0;
  const auto next = [&] { return scope.child(std::to_string(place++)); };
  encoder_in_ = DacConv(next(), weights, 1, channels, {.kernel = 7, .padding = 3});
  for (const int64_t rate : config_.encoder_rates) {
    encoder_.push_back(encoder_block(next().child("block"), weights, channels, rate));
    channels *= 2;
  }
  encoder_alpha_ = declare_alpha(next(), channels);
  encoder_out_ = DacConv(next(), weights, channels, config_.latent(), {.kernel = 3, .padding = 1});
}

void Dac::declare_decoder(const nn::Scope& scope, DacWeights weights) {
  int64_t channels = config_.decoder_dim, place = 0;
  const auto next = [&] { return scope.child(std::to_string(place++)); };
  decoder_in_ = DacConv(next(), weights, config_.latent(), channels, {.kernel = 7, .padding = 3});
  for (const int64_t rate : config_.decoder_rates) {
    decoder_.push_back(decoder_block(next().child("block"), weights, channels, channels / 2, rate));
    channels /= 2;
  }
  decoder_alpha_ = declare_alpha(next(), channels);
  decoder_out_ = DacConv(next(), weights, channels, 1, {.kernel = 7, .padding = 3});
}

Value Dac::latents(const Value& audio_BN, DacEdges edges) const {
  HUM_REQUIRE(edges == DacEdges::kUnpadded || audio_BN.size(1) % config_.hop_samples() == 0,
              "latents: audio {} is not whole hops of {} samples", audio_BN.shape(),
              config_.hop_samples());
  Value x = encoder_in_(graph::expand_dims(audio_BN, 2), edges);
  for (const Block& block : encoder_) {
    for (const auto& unit : block.units) x = unit(x, edges);
    x = block.resample(snake(x, block.alpha), edges);
  }
  return encoder_out_(snake(x, encoder_alpha_), edges);
}

Value Dac::decode(const Value& latents_BTD, DacEdges edges) const {
  Value x = decoder_in_(latents_BTD, edges);
  for (const Block& block : decoder_) {
    x = block.resample(snake(x, block.alpha), edges);
    for (const auto& unit : block.units) x = unit(x, edges);
  }
  return graph::squeeze(graph::tanh(decoder_out_(snake(x, decoder_alpha_), edges)), {2});
}

std::vector<const DacConv*> Dac::path() const {
  std::vector<const DacConv*> convs = {&encoder_in_};
  for (const Block& block : encoder_) {
    for (const auto& unit : block.units) convs.push_back(&unit.wide());
    convs.push_back(&block.resample);
  }
  convs.insert(convs.end(), {&encoder_out_, &decoder_in_});
  for (const Block& block : decoder_) {
    convs.push_back(&block.resample);
    for (const auto& unit : block.units) convs.push_back(&unit.wide());
  }
  convs.push_back(&decoder_out_);
  return convs;
}

int64_t Dac::unpadded_samples(int64_t samples) const {
  for (const DacConv* conv : path()) samples = conv->unpadded_length(samples);
  return samples;
}

int64_t Dac::delay_samples() const {
  // Any length works, because the difference does not depend on it.
  const int64_t out = unpadded_samples(0);
  int64_t in = out;
  for (const DacConv* conv : std::views::reverse(path())) in = conv->needed_length(in);
  return (in - out) / 2;
}

}  // namespace hum::models::codec

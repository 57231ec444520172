// The decoder's band for the lowest notes adds energy only in its bins.
#include "models/codec/codec.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "audio/dsp.h"
#include "runtime/testing.h"

namespace hum::models::codec {
namespace {

using graph::DType;
using runtime::HostTensor;

constexpr int64_t kFrames = 24, kLowBins = 16;  // up to 200 Hz
constexpr double kBin_hz = static_cast<double>(kSampleRateHz) / kLowWindowSamples;

CodecConfig small() {
  CodecConfig config{.latent = 6,
                     .encoder_width = 16,
                     .encoder_blocks = 1,
                     .decoder_width = 24,
                     .decoder_blocks = 1,
                     .fine_width = 16,
                     .fine_blocks = 1,
                     .low_bins = kLowBins};
  config.quantizer = {.books = 1, .entries = 4};
  return config;
}

// Decodes one random sequence; `low_level` is added to the low band's log magnitudes.
std::vector<float> decode(const Codec& codec, float low_level) {
  const Value latents = graph::parameter("latents", {DType::kF32, {1, kFrames, 6}});
  graph::Values parameters = codec.parameters().values();
  std::vector<HostTensor> inputs;
  for (const auto& parameter : codec.parameters().all()) {
    auto values = nn::initial_elements(parameter, 5);
    if (parameter.name == "decoder.low_head.bias") {
      std::fill_n(values.begin(), kLowBins, low_level);
    }
    inputs.push_back(HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  }
  parameters.push_back(latents);
  inputs.push_back(runtime::golden_tensor(3, "latents", {1, kFrames, 6}, {}));
  const auto sound = runtime::evaluate({codec.decode(latents)}, parameters, inputs)[0].to_floats();
  EXPECT_EQ(std::ssize(sound), kFrames * kHopSamples);
  return sound;
}

// Energy below and above a frequency, measured in the middle of a sound.
std::pair<double, double> split_energy(std::span<const float> sound, double at_hz) {
  constexpr int kSize = 4096;
  audio::RealFft fft(kSize);
  const auto window = audio::hann_window(kSize);
  std::vector<float> middle(kSize);
  std::vector<std::complex<float>> spectrum(static_cast<size_t>(fft.bins()));
  const auto start = (sound.size() - kSize) / 2;
  for (size_t i = 0; i < kSize; ++i) middle[i] = sound[start + i] * window[i];
  fft.forward(middle, spectrum);
  double below = 0, above = 0;
  for (size_t bin = 0; bin < spectrum.size(); ++bin) {
    const double hz = static_cast<double>(bin) * kSampleRateHz / kSize;
    (hz < at_hz ? below : above) += std::norm(spectrum[bin]);
  }
  return {below, above};
}

TEST(CodecLowBand, AddsSoundInItsOwnBinsAlone) {
  const Codec codec(small());
  const auto silent = decode(codec, -60), loud = decode(codec, 2);
  std::vector<float> added(silent.size());
  for (size_t i = 0; i < added.size(); ++i) added[i] = loud[i] - silent[i];
  // The synthesis window spreads a bin over its two neighbours.
  const auto [below, above] = split_energy(added, (kLowBins + 3) * kBin_hz);
  EXPECT_GT(below, 0);
  EXPECT_LT(above, 1e-3 * below);
}

TEST(CodecLowBand, IsLeftOutWithoutBins) {
  CodecConfig config = small();
  config.low_bins = 0;
  const Codec codec(config);
  for (const auto& parameter : codec.parameters().all()) {
    EXPECT_FALSE(parameter.name.starts_with("decoder.low_head")) << parameter.name;
  }
}

}  // namespace
}  // namespace hum::models::codec

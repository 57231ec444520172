// Losses between waveforms.
#include "nn/spectral_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/rng.h"
#include "graph/ops/elementwise.h"
#include "runtime/testing.h"

namespace hum::nn {
namespace {

using graph::DType;
using graph::Value;
using runtime::evaluate;
using runtime::HostTensor;

HostTensor noise(int64_t samples, uint64_t seed) {
  HostTensor result({DType::kF32, {1, samples}});
  Rng rng(seed, "spectral-loss-test");
  for (float& sample : result.as<float>()) sample = static_cast<float>(rng.normal());
  return result;
}

TEST(SpectralLoss, IsZeroForEqualSignalsAndSeesALevelChange) {
  MelScale scale{256, 64, 8, std::vector<float>(129 * 8)};
  for (size_t bin = 0; bin < 129; ++bin) scale.weights[bin * 8 + bin / 17] = 1.0f / 17;
  const SpectralLossConfig config{.mel_scales = {scale}};
  const Value x = graph::parameter("x", {DType::kF32, {1, 2048}});
  const auto loss = [&](double gain) {
    return evaluate({spectral_loss(x * gain, x, config).mel}, {x}, std::vector{noise(2048, 5)})[0]
        .as<float>()[0];
  };
  EXPECT_EQ(loss(1), 0);
  EXPECT_NEAR(loss(0.5), std::log10(2.0), 1e-3);
}

// Per-bin terms compare frames; the balance compares the energy of each half-octave over the clip.
TEST(SpectralLoss, BalanceSeesEnergyAndNotWhenItComes) {
  constexpr int64_t kWindow = 2048, kSamples = 8 * kWindow;
  const MelScale scale{kWindow, kWindow / 4, 1, std::vector<float>(kWindow / 2 + 1, 1.0f)};
  const SpectralLossConfig config{.mel_scales = {scale}, .balance_weight = 1};
  const Value x = graph::parameter("x", {DType::kF32, {1, kSamples}});
  const Value y = graph::parameter("y", {DType::kF32, {1, kSamples}});
  const HostTensor forward = noise(kSamples, 7);
  HostTensor reversed = forward;
  std::ranges::reverse(reversed.as<float>());
  const auto results =
      evaluate({spectral_loss(x * 0.5, x, config).balance, spectral_loss(y, x, config).balance},
               {x, y}, std::vector{forward, reversed});
  EXPECT_NEAR(results[0].as<float>()[0], std::log10(4.0), 1e-3);
  EXPECT_LT(results[1].as<float>()[0], 1e-3);
}

// A partial that is 20 dB weaker counts as much as the strongest; an inaudible one does not count.
TEST(SpectralLoss, PartialsCountWhereTheyAreHeard) {
  constexpr int64_t kWindow = 2048, kSamples = 4 * kWindow;
  const MelScale scale{kWindow, kWindow / 4, 1, std::vector<float>(kWindow / 2 + 1, 1.0f)};
  const SpectralLossConfig config{.mel_scales = {scale}, .partials_weight = 1};
  auto tone = [](double gain, int64_t bin) {
    HostTensor samples({DType::kF32, {1, kSamples}});
    for (int64_t n = 0; n < kSamples; ++n) {
      const double turns = static_cast<double>(bin * n) / kWindow;
      samples.as<float>()[static_cast<size_t>(n)] =
          static_cast<float>(gain * std::sin(2 * std::numbers::pi * turns));
    }
    return samples;
  };
  std::vector<Value> tones;
  for (const char* name : {"first", "second", "unheard"}) {
    tones.push_back(graph::parameter(name, {DType::kF32, {1, kSamples}}));
  }
  const Value x = tones[0] + tones[1];
  auto loss = [&](const Value& prediction) {
    return spectral_loss(prediction, x, config).partials;
  };
  const auto results =
      evaluate({loss(tones[0] + tones[1] * 0.5), loss(x * 0.5), loss(x + tones[2])}, tones,
               std::vector{tone(1, 100), tone(0.1, 200), tone(0.001, 400)});
  EXPECT_NEAR(results[0].as<float>()[0], std::log10(2.0) / 2, 5e-3);
  EXPECT_NEAR(results[1].as<float>()[0], std::log10(2.0), 5e-3);
  EXPECT_LT(results[2].as<float>()[0], 1e-3);
}

}  // namespace
}  // namespace hum::nn

// The onset loss on decaying tones that begin at known times.
#include "nn/onset_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "graph/autodiff/gradients.h"
#include "graph/ops.h"
#include "runtime/testing.h"

namespace hum::nn {
namespace {

using graph::DType;
using graph::Value;
using runtime::HostTensor;

constexpr int64_t kFrame = 192, kFrames = 20, kSamples = kFrame * kFrames, kOnset = 10;

// Two bands of 256 samples' 129 bins.
MelScale scale() {
  MelScale scale{256, 64, 2, std::vector<float>(129 * 2)};
  for (size_t bin = 0; bin < 129; ++bin) scale.weights[bin * 2 + bin / 65] = 1;
  return scale;
}

// A tone that is `before` loud until the onset and 1 after it, which takes `attack` frames.
HostTensor tone(double before, int64_t attack) {
  HostTensor samples({DType::kF32, {1, kSamples}});
  for (int64_t n = 0; n < kSamples; ++n) {
    const double frames = static_cast<double>(n) / kFrame - kOnset;
    const double risen = std::clamp(frames / static_cast<double>(attack), 0.0, 1.0);
    samples.as<float>()[static_cast<size_t>(n)] =
        static_cast<float>((before + (1 - before) * risen) *
                           std::sin(2 * std::numbers::pi * 0.05 * static_cast<double>(n)));
  }
  return samples;
}

HostTensor onset_at(int64_t frame) {
  HostTensor onsets({DType::kF32, {1, kFrames}});
  if (frame >= 0) onsets.as<float>()[static_cast<size_t>(frame)] = 1;
  return onsets;
}

double distance(const HostTensor& prediction, const HostTensor& target, const HostTensor& onsets) {
  const Value p = graph::parameter("p", {DType::kF32, {1, kSamples}}),
              t = graph::parameter("t", {DType::kF32, {1, kSamples}}),
              o = graph::parameter("o", {DType::kF32, {1, kFrames}});
  return runtime::evaluate({onset_distance(p, t, o, scale(), 60)}, {p, t, o},
                           std::vector{prediction, target, onsets})[0]
      .as<float>()[0];
}

TEST(OnsetDistance, ComparesRisesAtOnsetsAlone) {
  const HostTensor clear = tone(0.01, 1), soft = tone(0.01, 8), masked = tone(0.5, 1);
  EXPECT_EQ(distance(clear, clear, onset_at(kOnset)), 0);
  EXPECT_GT(distance(soft, clear, onset_at(kOnset)), 0.1) << "a slow attack";
  EXPECT_GT(distance(masked, clear, onset_at(kOnset)), 0.3) << "sound before the onset";
  EXPECT_LT(distance(soft, clear, onset_at(3)), 0.01) << "another frame";
  EXPECT_EQ(distance(soft, clear, onset_at(-1)), 0) << "no onset";
}

TEST(OnsetDistance, DoesNotHearTheLevel) {
  const HostTensor clear = tone(0.1, 1);
  HostTensor half = clear;
  for (float& sample : half.as<float>()) sample *= 0.5F;
  EXPECT_LT(distance(half, clear, onset_at(kOnset)), 1e-3);
}

TEST(OnsetDistance, PullsASoftAttackUp) {
  const Value p = graph::parameter("p", {DType::kF32, {1, kSamples}}),
              t = graph::parameter("t", {DType::kF32, {1, kSamples}}),
              o = graph::parameter("o", {DType::kF32, {1, kFrames}});
  const Value loss = onset_distance(p, t, o, scale(), 60);
  const HostTensor clear = tone(0.01, 1), soft = tone(0.01, 8);
  const auto step = runtime::evaluate({graph::gradients(loss, graph::Values{p})[0]}, {p, t, o},
                                      std::vector{soft, clear, onset_at(kOnset)})[0];
  HostTensor moved = soft;
  double square = 0;
  for (const float slope : step.as<float>()) square += slope * slope;
  ASSERT_GT(square, 0);
  for (size_t n = 0; n < moved.as<float>().size(); ++n) {
    moved.as<float>()[n] -= static_cast<float>(0.1 / std::sqrt(square)) * step.as<float>()[n];
  }
  EXPECT_LT(distance(moved, clear, onset_at(kOnset)), distance(soft, clear, onset_at(kOnset)));
}

}  // namespace
}  // namespace hum::nn

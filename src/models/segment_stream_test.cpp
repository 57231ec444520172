#include "models/segment_stream.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "graph/ops/spectral.h"

namespace hum::models {
namespace {

using runtime::HostTensor;

constexpr int64_t kWindow = 16, kHop = 4;

// Windows each frame twice, as a spectrum and its inverse would. The second sound is half as loud
// as the first.
SegmentStream halving_stream(const SegmentLayout& layout) {
  return {layout, [layout](const HostTensor& sound, const HostTensor& fade) {
            const int64_t n = layout.segment_samples();
            const auto window = graph::hann_window(kWindow);
            HostTensor result({graph::DType::kF32, {layout.sounds, layout.channels_out, n}});
            const auto x = sound.as<float>(), weights = fade.as<float>();
            const auto y = result.as<float>();
            for (int64_t row = 0; row < layout.sounds * layout.channels_out; ++row) {
              const float gain = row < layout.channels_out ? 1 : 0.5F;
              const int64_t from = row % layout.channels_out * n;
              for (int64_t t = 0; t < layout.frames; ++t) {
                for (int64_t i = 0; i < kWindow; ++i) {
                  const float w = window[static_cast<size_t>(i)];
                  y[static_cast<size_t>(row * n + t * kHop + i)] +=
                      gain * w * w * weights[static_cast<size_t>(t)] *
                      x[static_cast<size_t>(from + t * kHop + i)];
                }
              }
            }
            return result;
          }};
}

SegmentLayout layout_of(int64_t frames, int64_t overlap, int64_t lead) {
  return {.window_samples = kWindow,
          .hop_samples = kHop,
          .frames = frames,
          .overlap = overlap,
          .lead = lead,
          .channels_in = 3,
          .channels_out = 2,
          .sounds = 2};
}

std::vector<float> noise(int64_t frames) {
  Rng rng(1, "noise");
  std::vector<float> samples(static_cast<size_t>(3 * frames));
  for (float& sample : samples) sample = static_cast<float>(rng.uniform(-1, 1));
  return samples;
}

// What comes out when `block` frames go in at a time.
SegmentStream::Sounds streamed(SegmentStream stream, std::span<const float> samples, size_t block) {
  SegmentStream::Sounds sounds;
  for (size_t at = 0; at < samples.size(); at += 3 * block) {
    append(sounds, stream.push(samples.subspan(at, std::min(3 * block, samples.size() - at))));
  }
  append(sounds, stream.finish());
  return sounds;
}

TEST(SegmentStream, AddsUpToTheSoundForAnyLength) {
  for (const auto& layout : {layout_of(8, 0, 0), layout_of(12, 4, 2), layout_of(9, 3, 5)}) {
    for (const int64_t frames : {0, 1, 3, 4, 17, 31, 32, 33, 47, 48, 100, 1000}) {
      const auto input = noise(frames);
      const auto sounds = streamed(halving_stream(layout), input, 7);
      for (size_t k = 0; k < 2; ++k) {
        ASSERT_EQ(std::ssize(sounds[k]), 2 * frames);
        for (size_t i = 0; i < sounds[k].size(); ++i) {
          ASSERT_NEAR(sounds[k][i], (k == 0 ? 1 : 0.5) * input[i / 2 * 3 + i % 2], 1e-5)
              << layout.frames << " frames, " << frames << " samples, at " << i;
        }
      }
    }
  }
}

TEST(SegmentStream, GivesTheSameHoweverTheSoundComes) {
  const auto input = noise(500);
  const auto whole = streamed(halving_stream(layout_of(12, 4, 2)), input, 500);
  for (const size_t block : {1, 50, 499}) {
    EXPECT_EQ(streamed(halving_stream(layout_of(12, 4, 2)), input, block), whole) << block;
  }
}

TEST(SegmentStream, GivesSoundBeforeTheEndAndKeepsLittle) {
  auto stream = halving_stream(layout_of(12, 4, 2));
  const auto input = noise(1000);
  size_t given = 0;
  for (size_t at = 0; at < input.size(); at += 30) {
    given += stream.push(std::span(input).subspan(at, 30))[0].size() / 2;
    // A segment, and the half window before it.
    EXPECT_LE((at + 30) / 3 - given, 11 * kHop + kWindow + kWindow / 2);
  }
  EXPECT_GT(given, 900U);
}

}  // namespace
}  // namespace hum::models

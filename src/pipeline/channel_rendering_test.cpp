#include "pipeline/channel_rendering.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace hum::pipeline {
namespace {

using audio::Channels;

constexpr size_t kWidth = 3;

// A "decoder" of one channel: a frame's first latent, once for each sample.
RenderFunction first_latent(std::vector<size_t>* calls) {
  return [calls](std::span<const SoundWindow> windows) {
    calls->push_back(windows.size());
    std::vector<std::vector<float>> sounds;
    for (const SoundWindow& window : windows) {
      EXPECT_EQ(window.latents.size(), kWindowFrames * kWidth);
      auto& sound = sounds.emplace_back();
      for (size_t i = 0; i < kWindowFrames * 441; ++i) {
        sound.push_back(window.latents[i / 441 * kWidth]);
      }
    }
    return sounds;
  };
}

// In window w, frame t has w + t in the first channel's latent, 10 w - t in the second's.
std::vector<SoundWindow> two_windows() {
  std::vector<SoundWindow> windows(2);
  for (size_t w = 0; w < 2; ++w) {
    for (size_t t = 0; t < kWindowFrames; ++t) {
      const auto frame = static_cast<float>(t), number = static_cast<float>(w);
      for (const float value : {number + frame, 10 * number - frame}) {
        windows[w].latents.insert(windows[w].latents.end(), {value, -1, -1});
      }
    }
  }
  return windows;
}

TEST(ChannelRendering, PlaysEachChannelOfAllWindowsAndPutsThemTogether) {
  std::vector<size_t> calls;
  const auto heard = render_channels(first_latent(&calls), Channels::kLeftRight)(two_windows());
  EXPECT_EQ(calls, (std::vector<size_t>{2, 2}));
  ASSERT_EQ(heard.size(), 2U);
  ASSERT_EQ(heard[1].size(), 2U * kWindowFrames * 441);
  for (size_t i = 0; i < heard[1].size(); i += 500) {
    const auto frame = static_cast<float>(i / 882);
    EXPECT_EQ(heard[1][i], i % 2 == 0 ? 1 + frame : 10 - frame);
  }
}

TEST(ChannelRendering, HearsLeftAndRightOfMidAndSide) {
  std::vector<size_t> calls;
  const auto heard = render_channels(first_latent(&calls), Channels::kMidSide)(two_windows());
  for (size_t t = 0; t < kWindowFrames; ++t) {
    const auto frame = static_cast<float>(t);
    EXPECT_EQ(heard[1][2 * 441 * t], (1 + frame) + (10 - frame));
    EXPECT_EQ(heard[1][2 * 441 * t + 1], (1 + frame) - (10 - frame));
  }
}

TEST(ChannelRendering, TheMixIsTheMeanOfWhatIsHeard) {
  for (const auto channels : {Channels::kLeftRight, Channels::kMidSide}) {
    std::vector<size_t> calls;
    const auto heard = render_channels(first_latent(&calls), channels)(two_windows());
    calls.clear();
    const auto mix = render_mix(first_latent(&calls), channels)(two_windows());
    EXPECT_EQ(calls.size(), channels == Channels::kMidSide ? 1U : 2U);  // the mid is enough
    for (size_t w = 0; w < 2; ++w) {
      ASSERT_EQ(2 * mix[w].size(), heard[w].size());
      for (size_t i = 0; i < mix[w].size(); i += 441) {
        EXPECT_EQ(mix[w][i], (heard[w][2 * i] + heard[w][2 * i + 1]) / 2);
      }
    }
  }
}

TEST(ChannelRendering, RefusesLatentsThatAreNotOfTwoChannels) {
  std::vector<size_t> calls;
  std::vector<SoundWindow> odd(1);
  odd[0].latents.resize(kWindowFrames * kWidth);
  EXPECT_THROW(render_channels(first_latent(&calls), Channels::kMidSide)(odd), Error);
}

}  // namespace
}  // namespace hum::pipeline

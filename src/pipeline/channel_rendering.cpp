#include "pipeline/channel_rendering.h"

#include <algorithm>

#include "base/error.h"

namespace hum::pipeline {
namespace {

using Sounds = std::vector<std::vector<float>>;

std::vector<float> latents_of(const SoundWindow& window, int64_t channel, int64_t channels) {
  HUM_REQUIRE(std::ssize(window.latents) % (kWindowFrames * channels) == 0,
              "render: {} numbers are not the latents of {} channels", window.latents.size(),
              channels);
  const int64_t width = std::ssize(window.latents) / (kWindowFrames * channels);
  std::vector<float> own(static_cast<size_t>(kWindowFrames * width));
  for (int64_t frame = 0; frame < kWindowFrames; ++frame) {
    std::copy_n(window.latents.begin() + (frame * channels + channel) * width, width,
                own.begin() + frame * width);
  }
  return own;
}

// Decodes one coded channel.
Sounds render_channel(const RenderFunction& one, std::span<const SoundWindow> windows,
                      int64_t channel, int64_t channels) {
  std::vector<SoundWindow> own(windows.begin(), windows.end());
  for (SoundWindow& window : own) window.latents = latents_of(window, channel, channels);
  return one(own);
}

}  // namespace

RenderFunction render_channels(RenderFunction one, audio::Channels channels) {
  if (channels == audio::Channels::kMono) return one;
  return [one = std::move(one), channels](std::span<const SoundWindow> windows) {
    Sounds first = render_channel(one, windows, 0, 2), second = render_channel(one, windows, 1, 2);
    Sounds heard;
    for (size_t i = 0; i < windows.size(); ++i) {
      const std::vector<float> coded[] = {std::move(first[i]), std::move(second[i])};
      heard.push_back(audio::heard_channels(coded, channels));
    }
    return heard;
  };
}

RenderFunction render_mix(RenderFunction one, audio::Channels channels) {
  if (channels == audio::Channels::kMono) return one;
  return [one = std::move(one), channels](std::span<const SoundWindow> windows) {
    Sounds mix = render_channel(one, windows, 0, 2);
    if (channels == audio::Channels::kMidSide) return mix;  // the mid is the mean
    const Sounds right = render_channel(one, windows, 1, 2);
    for (size_t i = 0; i < mix.size(); ++i) {
      std::ranges::transform(mix[i], right[i], mix[i].begin(),
                             [](float l, float r) { return (l + r) / 2; });
    }
    return mix;
  };
}

}  // namespace hum::pipeline

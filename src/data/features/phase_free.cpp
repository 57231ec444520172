#include "data/features/phase_free.h"

#include "base/error.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

namespace fs = std::filesystem;

// 5 ms around 0, so that the mean is not late. At unequal distances, so that no pitch has the same
// phase in all.
constexpr int64_t kShifts_samples[] = {-55, -24, 17, 55};
constexpr float kPolarities[] = {1, -1};
constexpr int64_t kEncodings = std::ssize(kShifts_samples) * std::ssize(kPolarities);

// Silence enters where the sound moves away from its edge.
void add_moved(std::span<const float> sound, int64_t shift_samples, float gain,
               std::vector<float>& windows) {
  const int64_t size = std::ssize(sound);
  for (int64_t i = 0; i < size; ++i) {
    const int64_t from = i + shift_samples;
    windows.push_back(from >= 0 && from < size ? gain * sound[static_cast<size_t>(from)] : 0);
  }
}

// All encodings of each channel. Shapes: -> [channels, kEncodings, kItemSamples].
std::vector<float> moved_windows(const ItemView& item, audio::Channels channels) {
  std::vector<float> windows;
  windows.reserve(item.target.size() * kEncodings);
  const int64_t stored = std::ssize(item.target) / kItemSamples;
  for (const auto& channel : coded_sound(item.target, stored, channels)) {
    for (const int64_t shift : kShifts_samples) {
      for (const float gain : kPolarities) add_moved(channel, shift, gain, windows);
    }
  }
  return windows;
}

// Shapes: -> [kItemFrames, D].
std::vector<float> mean_latents(const ItemView& item, const TokenTable& tokens,
                                const TokenEncoder& encoder) {
  const int64_t channels = audio::channel_count(tokens.channels());
  const int64_t per_window = kItemFrames * encoder.books;
  const auto codes = encoder.encode(moved_windows(item, tokens.channels()));
  HUM_CHECK(std::ssize(codes) == channels * kEncodings * per_window);
  std::vector<uint16_t> together(static_cast<size_t>(channels * per_window));
  std::vector<float> latents(static_cast<size_t>(kItemFrames * tokens.latent())),
      mean(latents.size());
  for (int64_t encoding = 0; encoding < kEncodings; ++encoding) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      const auto own = codes.begin() + (channel * kEncodings + encoding) * per_window;
      for (int64_t i = 0; i < per_window; ++i) {
        together[static_cast<size_t>(i * channels + channel)] = static_cast<uint16_t>(own[i]);
      }
    }
    tokens.decode(together, latents);
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += latents[i] / kEncodings;
  }
  return mean;
}

}  // namespace

StoredLatents phase_free_latents(const ItemFolder& items, const fs::path& folder,
                                 const TokenTable& tokens, const TokenEncoder& encoder) {
  items.require_sound("a draft with phase-free targets");
  const fs::path place = folder / fmt::format("phase-free-{}-{}", encoder.fingerprint.substr(0, 16),
                                              items.fingerprint());
  return {place,
          {.what = "phase-free latents", .items = items.size(), .latent = tokens.latent()},
          [&](int64_t item, int64_t) { return mean_latents(items[item], tokens, encoder); }};
}

}  // namespace hum::data

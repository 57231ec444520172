#include "data/features/phase_free.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "data/shards/array_files.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kItemsPerFile = 256;
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

// A file of fewer items is from before the folder grew.
bool holds(const fs::path& path, int64_t values) {
  if (!fs::exists(path)) return false;
  const ErrorContext context([&] { return "reading " + path.string(); });
  const MappedFile file(path);
  return std::ssize(npy_values<float>(file.bytes())) == values;
}

}  // namespace

PhaseFreeLatents::PhaseFreeLatents(const ItemFolder& items, const fs::path& folder,
                                   const TokenTable& tokens, const TokenEncoder& encoder)
    : values_per_item_(kItemFrames * tokens.latent()) {
  items.require_sound("a draft with phase-free targets");
  const fs::path place = folder / fmt::format("phase-free-{}-{}", encoder.fingerprint.substr(0, 16),
                                              items.fingerprint());
  create_folder(place);
  Progress progress("phase-free latents", items.size());
  for (int64_t first = 0; first < items.size(); first += kItemsPerFile) {
    const int64_t last = std::min(first + kItemsPerFile, items.size());
    const fs::path path = place / fmt::format("{:06}.npy", first / kItemsPerFile);
    if (!holds(path, (last - first) * values_per_item_)) {
      std::vector<float> all;
      for (int64_t i = first; i < last; ++i) {
        const auto mean = mean_latents(items[i], tokens, encoder);
        all.insert(all.end(), mean.begin(), mean.end());
        progress.update(i + 1);
      }
      const int64_t dims[] = {last - first, kItemFrames, tokens.latent()};
      write_file(path, npy_file<float>(dims, all));
    }
    files_.emplace_back(path);
  }
}

std::span<const float> PhaseFreeLatents::operator[](int64_t item) const {
  const auto all = npy_values<float>(files_[static_cast<size_t>(item / kItemsPerFile)].bytes());
  return all.subspan(static_cast<size_t>(item % kItemsPerFile * values_per_item_),
                     static_cast<size_t>(values_per_item_));
}

}  // namespace hum::data

#include "data/shards/item_codes.h"

#include <algorithm>

#include "base/error.h"
#include "data/shards/array_files.h"
#include "data/synthesis/timing.h"

namespace hum::data {

namespace {

// An item's windows: each channel of its target, then its reference padded with silence.
void add_windows(std::vector<float>& windows, const ItemSound& item, audio::Channels channels) {
  std::vector<float> target(item.target.size());
  to_float(item.target, target);
  for (auto& channel : audio::coded_channels(target, channels)) {
    HUM_REQUIRE(std::ssize(channel) == kItemSamples, "encode_items: a target of {} samples",
                channel.size());
    windows.insert(windows.end(), channel.begin(), channel.end());
  }
  const auto heard = std::min(item.reference.size(), static_cast<size_t>(kItemSamples));
  windows.resize(windows.size() + kItemSamples);
  to_float(item.reference.first(heard), std::span(windows).last(kItemSamples).first(heard));
}

}  // namespace

std::vector<ItemCodes> encode_items(const TokenEncoder& encoder, audio::Channels channels,
                                    std::span<const ItemSound> items) {
  HUM_REQUIRE(std::ssize(items) <= kItemsPerEncode, "encode_items: {} items", items.size());
  const int64_t count = audio::channel_count(channels), books = encoder.books;
  std::vector<float> windows;
  for (const ItemSound& item : items) add_windows(windows, item, channels);
  windows.resize(static_cast<size_t>((count + 1) * kItemsPerEncode * kItemSamples));
  const std::vector<int32_t> codes = encoder.encode(windows);
  const int64_t per_window = kItemFrames * books;
  HUM_CHECK(std::ssize(codes) == (count + 1) * kItemsPerEncode * per_window);
  std::vector<ItemCodes> result;
  auto at = codes.begin();
  for (const ItemSound& item : items) {
    ItemCodes& own = result.emplace_back();
    own.target.resize(static_cast<size_t>(count * per_window));
    for (int64_t channel = 0; channel < count; ++channel, at += per_window) {
      for (int64_t i = 0; i < per_window; ++i) {
        own.target[static_cast<size_t>(i * count + channel)] = static_cast<uint16_t>(at[i]);
      }
    }
    const int64_t frames = std::min(kReferenceFrames, std::ssize(item.reference) / kFrameSamples);
    own.reference.assign(at, at + frames * books);
    at += per_window;
  }
  return result;
}

}  // namespace hum::data

#include "data/shards/item_codes.h"

#include <algorithm>

#include "base/error.h"
#include "data/shards/array_files.h"
#include "data/synthesis/timing.h"

namespace hum::data {

std::vector<ItemCodes> encode_items(const TokenEncoder& encoder, std::span<const ItemSound> items) {
  HUM_REQUIRE(std::ssize(items) <= kItemsPerEncode, "encode_items: {} items", items.size());
  // Each item is two windows: its target, and its reference with silence behind it.
  std::vector<float> windows(static_cast<size_t>(2 * kItemsPerEncode * kItemSamples));
  const auto window = [&](size_t i) {
    return std::span(windows).subspan(i * kItemSamples, kItemSamples);
  };
  for (size_t i = 0; i < items.size(); ++i) {
    to_float(items[i].target, window(2 * i));
    const auto heard = std::min(items[i].reference.size(), static_cast<size_t>(kItemSamples));
    to_float(items[i].reference.first(heard), window(2 * i + 1).first(heard));
  }
  const std::vector<int32_t> codes = encoder.encode(windows);
  const int64_t per_window = kItemFrames * encoder.books;
  HUM_CHECK(std::ssize(codes) == 2 * kItemsPerEncode * per_window);
  std::vector<ItemCodes> result;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto first = codes.begin() + static_cast<int64_t>(2 * i) * per_window;
    const int64_t frames =
        std::min(kReferenceFrames, std::ssize(items[i].reference) / kFrameSamples);
    const auto reference = first + per_window;
    result.push_back({{first, reference}, {reference, reference + frames * encoder.books}});
  }
  return result;
}

}  // namespace hum::data

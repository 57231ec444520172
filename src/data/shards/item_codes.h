// Encodes a training item as codec tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "audio/channels.h"

namespace hum::data {

// 5 s, the longest timbre reference.
inline constexpr int64_t kReferenceFrames = 250;

// A codec's encoder as a function, so that data/ does not depend on models/. Called from several
// threads at once.
struct TokenEncoder {
  int64_t books = 0;  // K
  // SHA-256 of the codec's weights, which define the meaning of the tokens.
  std::string fingerprint;
  // Windows of kItemSamples, one after another -> codes [windows, kItemFrames, K].
  std::function<std::vector<int32_t>(std::span<const float> windows)> encode;
};

// Books of C channels are interleaved: book 1 of each, book 2 of each, ... The reference has one
// channel. Shapes: [kItemFrames, K C] and [whole frames of the reference, at most kReferenceFrames;
// K].
struct ItemCodes {
  std::vector<uint16_t> target, reference;
};

struct ItemSound {
  std::span<const int16_t> target, reference;
};

// Items per encoder call: with one channel, as many windows as the codec takes at once.
inline constexpr int64_t kItemsPerEncode = 4;

// Encodes at most kItemsPerEncode items. It encodes the samples as they are stored, so that codes
// made with the sound and codes made later are the same.
std::vector<ItemCodes> encode_items(const TokenEncoder& encoder, audio::Channels channels,
                                    std::span<const ItemSound> items);

}  // namespace hum::data

#include "audio/channels.h"

#include "base/error.h"

namespace hum::audio {

std::vector<std::vector<float>> coded_channels(std::span<const float> interleaved,
                                               Channels channels) {
  const auto count = static_cast<size_t>(channel_count(channels));
  HUM_REQUIRE(interleaved.size() % count == 0, "coded_channels: {} samples do not fill {} channels",
              interleaved.size(), count);
  std::vector<std::vector<float>> coded(count, std::vector<float>(interleaved.size() / count));
  for (size_t i = 0; i < interleaved.size(); ++i) coded[i % count][i / count] = interleaved[i];
  if (channels != Channels::kMidSide) return coded;
  for (size_t i = 0; i < coded[0].size(); ++i) {
    const float left = coded[0][i], right = coded[1][i];
    coded[0][i] = (left + right) / 2;
    coded[1][i] = (left - right) / 2;
  }
  return coded;
}

std::vector<float> heard_channels(std::span<const std::vector<float>> coded, Channels channels) {
  const auto count = static_cast<size_t>(channel_count(channels));
  HUM_REQUIRE(coded.size() == count && coded.back().size() == coded.front().size(),
              "heard_channels: {} channels of {}", coded.size(), count);
  std::vector<float> interleaved(coded[0].size() * count);
  for (size_t i = 0; i < interleaved.size(); ++i) interleaved[i] = coded[i % count][i / count];
  if (channels != Channels::kMidSide) return interleaved;
  for (size_t i = 0; i < interleaved.size(); i += 2) {
    const float mid = interleaved[i], side = interleaved[i + 1];
    interleaved[i] = mid + side;
    interleaved[i + 1] = mid - side;
  }
  return interleaved;
}

}  // namespace hum::audio

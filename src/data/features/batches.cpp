#include "data/features/batches.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "data/shards/array_files.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"

namespace hum::data {
namespace {

// The position of item b of a step in the endless sequence of items.
int64_t position_of(int64_t step, int64_t batch, int64_t b) { return step * batch + b; }

int64_t crop_start(uint64_t seed, int64_t position, int64_t last_start) {
  return Rng(seed, "crop", static_cast<uint64_t>(position)).integer(0, last_start);
}

// Shapes: -> [kItemFrames, columns].
std::vector<float> melody_of(const ItemView& item, int columns) {
  if (columns == kMelodyFeatures) return {item.features.begin(), item.features.end()};
  return melody_features(item.notes().melody, kItemFrames, columns);
}

// A melody with a share of its frames replaced, drawn for the item's position in the sequence.
std::vector<float> with_replaced_frames(const std::vector<float>& features,
                                        const FrameReplacement& replacement, int64_t position) {
  std::vector<float> result = features;
  Rng rng(replacement.seed, "token replacement", static_cast<uint64_t>(position));
  const int64_t columns = std::ssize(features) / kItemFrames;
  for (int64_t frame = 0; replacement.share > 0 && frame < kItemFrames; ++frame) {
    if (!rng.chance(replacement.share)) continue;
    const auto source = features.begin() + rng.integer(0, kItemFrames - 1) * columns;
    std::copy_n(source, columns, result.begin() + frame * columns);
  }
  return result;
}

// One coded channel of a target. Shapes: -> [samples].
std::vector<float> crop_of(const ItemView& item, audio::Channels channels, int64_t channel,
                           int64_t start, int64_t samples) {
  const int64_t stored = std::ssize(item.target) / kItemSamples;
  const auto crop = item.target.subspan(static_cast<size_t>(start * stored),
                                        static_cast<size_t>(samples * stored));
  return std::move(coded_sound(crop, stored, channels)[static_cast<size_t>(channel)]);
}

// One channel's share of each row. Shapes: latents [rows, D of all channels] -> out [rows, width].
void take_channel(std::span<const float> latents, int64_t channels, int64_t channel,
                  std::span<float> out, int64_t width) {
  for (int64_t row = 0; row < std::ssize(out) / width; ++row) {
    std::copy_n(latents.begin() + (row * channels + channel) * width, width,
                out.begin() + row * width);
  }
}

template <typename T>
std::span<T> part(std::vector<T>& values, int64_t index, int64_t size) {
  return std::span(values).subspan(static_cast<size_t>(index * size), static_cast<size_t>(size));
}

}  // namespace

ItemOrder::ItemOrder(int64_t first, int64_t count, uint64_t seed)
    : first_(first), count_(count), seed_(seed) {
  HUM_REQUIRE(count > 0, "ItemOrder: no items");
  while ((int64_t{1} << 2 * half_bits_) < count) ++half_bits_;
}

int64_t ItemOrder::item(int64_t position) const {
  const auto epoch = static_cast<uint64_t>(position / count_);
  const auto key = stream_key(seed_, "order", epoch);
  auto place = static_cast<uint32_t>(position % count_);
  // Cycle walking: iterates while the index is outside, which gives a permutation of the items.
  do place = permute(place, key);
  while (place >= count_);
  return first_ + place;
}

uint32_t ItemOrder::permute(uint32_t place, std::array<uint32_t, 2> key) const {
  const uint32_t mask = (1U << half_bits_) - 1;
  uint32_t left = place >> half_bits_, right = place & mask;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint32_t mixed = threefry2x32(key, {right, round})[0] & mask;
    left = std::exchange(right, left ^ mixed);
  }
  return left << half_bits_ | right;
}

std::vector<float> audio_batch(const ItemFolder& items, const ItemOrder& order, uint64_t seed,
                               int64_t step, int64_t batch, int64_t samples) {
  // In mono: the mid, regardless of the tokens' channels.
  const bool is_mono = items.channels() == audio::Channels::kMono;
  const auto channels = is_mono ? audio::Channels::kMono : audio::Channels::kMidSide;
  std::vector<float> audio(static_cast<size_t>(batch * samples));
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t position = position_of(step, batch, b);
    const int64_t start = crop_start(seed, position, kItemSamples - samples);
    std::ranges::copy(crop_of(items[order.item(position)], channels, 0, start, samples),
                      part(audio, b, samples).begin());
  }
  return audio;
}

VoiceBatch voice_batch(const ItemFolder& items, const TokenTable& tokens, const ItemOrder& order,
                       uint64_t seed, int64_t step, int64_t batch, int64_t frames,
                       const VoiceBatchOptions& options) {
  const int64_t samples = frames * kFrameSamples, books = tokens.books();
  const int64_t count = audio::channel_count(items.channels()), latent = tokens.latent() / count;
  const int64_t columns = options.melody_columns;
  std::vector<float> latents(static_cast<size_t>(frames * tokens.latent()));  // of all channels
  VoiceBatch result;
  result.audio.resize(static_cast<size_t>(batch * samples));
  result.excitation.resize(static_cast<size_t>(batch * samples));
  result.latents.resize(static_cast<size_t>(batch * frames * latent));
  result.melody.resize(static_cast<size_t>(batch * frames * columns));
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t position = position_of(step, batch, b), index = order.item(position);
    const ItemView& item = items[index];
    const int64_t start = crop_start(seed, position, kItemFrames - frames);
    const int64_t channel =
        Rng(seed, "channel", static_cast<uint64_t>(position)).integer(0, count - 1);
    result.items.push_back(index);
    result.starts.push_back(start);
    result.channels.push_back(channel);
    std::ranges::copy(crop_of(item, items.channels(), channel, start * kFrameSamples, samples),
                      part(result.audio, b, samples).begin());
    const std::vector<uint16_t> codes = tokens.target(index);
    tokens.decode(std::span(codes).subspan(static_cast<size_t>(start * books),
                                           static_cast<size_t>(frames * books)),
                  latents);
    take_channel(latents, count, channel, part(result.latents, b, frames * latent), latent);
    const std::vector<audio::Note> played = item.notes().played;
    const auto features = melody_features(played, kItemFrames, options.melody_columns);
    std::copy_n(features.begin() + start * columns, frames * columns,
                part(result.melody, b, frames * columns).begin());
    const double start_s = static_cast<double>(start) / kFramesPerSecond;
    render_excitation(shifted(played, -start_s), part(result.excitation, b, samples),
                      options.excitation_tail_s);
  }
  return result;
}

void replace_latents(VoiceBatch& batch, std::span<const float> latents, int64_t items,
                     audio::Channels channels) {
  const int64_t count = audio::channel_count(channels);
  const int64_t width = std::ssize(latents) / (items * kItemFrames * count);
  const int64_t size = std::ssize(batch.latents) / std::ssize(batch.starts);
  for (int64_t b = 0; b < items; ++b) {
    const auto at = static_cast<size_t>(b);
    take_channel(
        latents.subspan(static_cast<size_t>((b * kItemFrames + batch.starts[at]) * count * width)),
        count, batch.channels[at], part(batch.latents, b, size), width);
  }
}

TokenBatch token_batch(const ItemFolder& items, const TokenTable& tokens, const ItemOrder& order,
                       int64_t step, int64_t batch, int64_t count,
                       const TokenBatchOptions& options) {
  const int64_t latent = tokens.latent();
  TokenBatch result;
  result.latents.resize(static_cast<size_t>(count * kItemFrames * latent));
  result.reference.resize(static_cast<size_t>(count * kReferenceFrames * latent));
  for (int64_t b = 0; b < count; ++b) {
    const int64_t position = position_of(step, batch, b), index = order.item(position);
    const ItemView& item = items[index];
    result.items.push_back(index);
    const auto target = tokens.target(index);
    const auto reference = tokens.reference(index);
    result.codes.insert(result.codes.end(), target.begin(), target.end());
    const auto latents = part(result.latents, b, kItemFrames * latent);
    if (options.phase_free != nullptr) {
      std::ranges::copy((*options.phase_free)[index], latents.begin());
    } else {
      tokens.decode(target, latents);
    }
    tokens.decode_reference(
        reference, part(result.reference, b, kReferenceFrames * latent)
                       .first(static_cast<size_t>(tokens.reference_frames(index) * latent)));
    const auto melody = with_replaced_frames(melody_of(item, options.melody_columns),
                                             options.replacement, position);
    result.melody.insert(result.melody.end(), melody.begin(), melody.end());
    result.reference_frames.push_back(static_cast<int32_t>(tokens.reference_frames(index)));
    if (!options.has_reference_melody) continue;
    const auto played =
        melody_features(item.reference_notes(), kReferenceFrames, options.melody_columns);
    result.reference_melody.insert(result.reference_melody.end(), played.begin(), played.end());
  }
  return result;
}

}  // namespace hum::data

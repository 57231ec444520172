// Makes batches of rendered items as plain arrays. A batch depends only on (seed, step), so that a
// resumed run gets the same data.
//
// B items, N samples, T frames, M melody features, S reference frames; K books and D latent size of
// all channels together.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "data/features/stored_latents.h"
#include "data/features/tokens.h"
#include "data/shards/item_folder.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/features.h"

namespace hum::data {

// Visits every item once per epoch, in another order each epoch: a Feistel network over the
// indices, as random as a shuffle but without its memory. Items cycle through presets, so an order
// with a pattern, such as a stride, would make batches of few presets. Source: Luby & Rackoff 1988;
// Black & Rogaway 2002, cycle walking.
class ItemOrder {
 public:
  // Items first..first+count-1.
  ItemOrder(int64_t first, int64_t count, uint64_t seed);
  int64_t item(int64_t position) const;

 private:
  static constexpr uint32_t kRounds = 6;
  // A permutation of [0, 4^half_bits).
  uint32_t permute(uint32_t place, std::array<uint32_t, 2> key) const;

  int64_t first_, count_;
  uint64_t seed_;
  int half_bits_ = 1;
};

// Makes random crops of the targets, in mono. Shapes: [B, N].
std::vector<float> audio_batch(const ItemFolder& items, const ItemOrder& order, uint64_t seed,
                               int64_t step, int64_t batch, int64_t samples);

// The training data of the guided decoder: crops of target, quantised latents, melody and
// excitation. Melody and excitation are those of the notes that were actually played. The decoder
// plays one channel at a time, so crops of stereo items have one of the coded channels, drawn at
// random.
struct VoiceBatch {
  std::vector<float> audio;       // [B, N]
  std::vector<float> latents;     // [B, T, D of one channel]
  std::vector<float> melody;      // [B, T, M]
  std::vector<float> excitation;  // [B, N]
  std::vector<int64_t> items;     // [B]
  std::vector<int64_t> starts;    // [B]: first frame of each crop in its item
  std::vector<int64_t> channels;  // [B]: the channel of the crop
};
// What the decoder was made for. See melody_features and render_excitation.
struct VoiceBatchOptions {
  int melody_columns = kMelodyFeatures;  // M
  double excitation_tail_s = kExcitationTail_s;
};
VoiceBatch voice_batch(const ItemFolder& items, const TokenTable& tokens, const ItemOrder& order,
                       uint64_t seed, int64_t step, int64_t batch, int64_t frames,
                       const VoiceBatchOptions& options = {});
// Replaces the latents of the batch's first items by the same crops and channels of `latents`,
// which are those of whole items. Shapes: latents [items, kItemFrames, D].
void replace_latents(VoiceBatch& batch, std::span<const float> latents, int64_t items,
                     audio::Channels channels);

// The training data of the upsampler and the coarse LM: whole items, the first `count` of the
// step's batch (the same items as voice_batch's).
struct TokenBatch {
  std::vector<int64_t> items;             // [B]
  std::vector<int32_t> codes;             // [B, T, K]
  std::vector<float> latents;             // [B, T, D]
  std::vector<float> melody;              // [B, T, M]
  std::vector<float> reference;           // [B, S, D]
  std::vector<int32_t> reference_frames;  // [B]
  // [B, S, M]: of the reference's notes, if asked for; rows past its frames mean nothing.
  std::vector<float> reference_melody;
};
// Augmentation: replaces a share of the melody's frames by other frames of the same melody, with a
// new choice each time that an item is used; codes and latents stay.
struct FrameReplacement {
  double share = 0;
  uint64_t seed = 0;
};
struct TokenBatchOptions {
  int melody_columns = kMelodyFeatures;  // M; more than the items store are made from their notes
  FrameReplacement replacement = {};
  bool has_reference_melody = false;
  // Supplies the latents in place of the tokens'.
  const StoredLatents* phase_free = nullptr;
};
// Throws: kBadData if the items do not have the notes of their references, but the batch has.
TokenBatch token_batch(const ItemFolder& items, const TokenTable& tokens, const ItemOrder& order,
                       int64_t step, int64_t batch, int64_t count,
                       const TokenBatchOptions& options = {});

}  // namespace hum::data

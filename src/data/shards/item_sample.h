// Stores a training item, or the features of a recording's window, as one WebDataset sample: small
// files whose names begin with its key. docs/formats/items.md lists them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/notes.h"
#include "base/json.h"
#include "data/shards/item_codes.h"
#include "data/shards/tar.h"
#include "data/synthesis/items.h"

namespace hum::data {

// Nine digits without a dot, because WebDataset's key ends at the first dot.
std::string item_key(uint64_t index);

struct ItemNotes {
  std::vector<audio::Note> melody, played;
};

// A view of one item in its mapped shard; valid as long as its ItemFolder. Parses notes and
// description on request.
struct ItemView {
  uint64_t index = 0;                         // of features: that of the window in its recording
  std::span<const int16_t> target;            // [kItemSamples, channels]; coded_sound
  std::span<const int16_t> reference;         // [22050..110250]
  std::span<const float> features;            // [kItemFrames * kMelodyFeatures]
  std::span<const uint16_t> codes;            // ItemCodes::target; empty without a codec
  std::span<const uint16_t> reference_codes;  // [frames * K]
  std::string_view notes_json, meta_json;
  // Of features, [2, kItemFrames, K]: left and right; the mono reference and the sines of its
  // notes.
  std::span<const uint16_t> stereo_codes, mono_codes;
  // Of features with sound, [kItemSamples]: the mono version of a recording that has one.
  std::span<const int16_t> mono_sound;

  // Throws: kBadData when they do not parse.
  ItemNotes notes() const;
  // On the reference's clock. Throws also: kBadData for items of earlier releases, without them.
  std::vector<audio::Note> reference_notes() const;
  Json meta() const;
};

// The signals of a target, or of a part of it, that the codec encodes. Stereo sound in mono is the
// mean of its channels; mono sound in stereo is both of them. Shapes: stored [n, stored_channels]
// -> channel_count(channels) of [n].
std::vector<std::vector<float>> coded_sound(std::span<const int16_t> stored,
                                            int64_t stored_channels, audio::Channels channels);

// The sound of `item` as it is stored.
struct StoredSound {
  explicit StoredSound(const TrainingItem& item);
  ItemSound view() const { return {target, reference}; }
  std::vector<int16_t> target, reference;
};

// Adds all files of an item; those of the codes only if there are codes. `meta`: the contents of
// .meta.json; `books`: the codec's.
void add_sample(TarWriter& shard, const TrainingItem& item, const StoredSound& sound,
                const Json& meta, const ItemCodes* codes, int64_t books);
void add_codes(TarWriter& shard, uint64_t index, const ItemCodes& codes, int64_t books);

// A window of 6 s of a recording. K books.
struct FeatureSample {
  std::string recording;  // the SHA-256 of its file
  int64_t window = 0;
  Json meta;                                        // the contents of .meta.json
  std::vector<audio::Note> notes, reference_notes;  // on the window's clock, on the reference's
  std::vector<float> features;                      // [kItemFrames, kMelodyFeatures]
  // The codes of the signals: [kItemFrames, K]. `mono` is the mean of the channels, `sine` a
  // rendering of the notes.
  std::vector<uint16_t> left, right, mono, sine;
  std::vector<uint16_t> reference;  // [frames, K], at most kReferenceFrames
  // The sound itself, if it is stored: [kItemSamples, 1 or 2 channels]; that of the mono version,
  // if the recording has one, [kItemSamples].
  std::vector<int16_t> sound = {}, mono_sound = {};
};
// The first 16 hex digits of the hash, and the window in six digits.
std::string feature_key(const std::string& recording, int64_t window);
void add_features(TarWriter& shard, const FeatureSample& sample);

// The samples of a shard, in order; members of one sample are adjacent. Ignores files with other
// suffixes. Throws: kBadData naming a damaged one.
std::vector<ItemView> read_samples(std::string_view archive);

}  // namespace hum::data

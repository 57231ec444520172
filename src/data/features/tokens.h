// Supplies the codec tokens of every training item: those in the shards, or tokens that are made
// once per codec and stored beside the shards.
//
// K books and D latent size of all channels together (ItemCodes), E entries; kItemFrames frames of
// target, at most kReferenceFrames of reference.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "data/shards/item_codes.h"
#include "data/shards/item_folder.h"

namespace hum::data {

// The parts of a codec: its encoder and the code vectors of all channels together.
struct CodecTables {
  TokenEncoder encoder;
  int64_t entries = 0, latent = 0;
  // [K, E, D]
  std::vector<float> codebooks;
};

// Memory-mapped. `items` (or the object that it was moved to) must outlive this object.
class TokenTable {
 public:
  // Takes the items' own codes if they are this codec's; else those in
  // folder/codes-<codec>-<items>.tar, which it first makes if needed, with progress. Throws:
  // kBadData for features of recordings with another codec, because they have no sound to encode.
  TokenTable(const ItemFolder& items, const std::filesystem::path& folder, CodecTables codec);

  audio::Channels channels() const { return channels_; }
  int64_t books() const { return codec_.encoder.books * audio::channel_count(channels_); }
  int64_t latent() const { return codec_.latent; }
  // Shapes: [kItemFrames, K], [reference_frames, books of one channel].
  std::vector<uint16_t> target(int64_t item) const;
  std::span<const uint16_t> reference(int64_t item) const;
  int64_t reference_frames(int64_t item) const {
    return std::ssize(reference(item)) / codec_.encoder.books;
  }
  // Sums each row's code vectors. Shapes: codes [n, K] -> out [n, D].
  void decode(std::span<const uint16_t> codes, std::span<float> out) const;
  // A reference's rows take the first channel's place; the others are zero. Shapes: codes [n, books
  // of one channel] -> out [n, D].
  void decode_reference(std::span<const uint16_t> codes, std::span<float> out) const;
  // Counts the uses of each entry of each book over all targets: [K, E].
  std::vector<int64_t> histogram() const;

 private:
  struct Row {
    std::span<const uint16_t> target, reference;
  };
  bool read(const std::filesystem::path& file, int64_t items);
  void check_rows() const;
  // Column c of `codes` is of book c * step. Shapes: [n, K / step] -> [n, D].
  void add_vectors(std::span<const uint16_t> codes, int64_t step, std::span<float> out) const;

  audio::Channels channels_;
  bool is_by_channel_;  // of the rows' targets: ItemFolder::has_codes_by_channel
  CodecTables codec_;
  std::optional<MappedFile> file_;
  std::vector<Row> rows_;
};

}  // namespace hum::data

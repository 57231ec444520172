// The codec's tokens of every training item: those that the shards hold, or made once per codec and
// kept beside them.
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

// What a codec brings: its encoder and, of all channels together, its code vectors.
struct CodecTables {
  TokenEncoder encoder;
  int64_t entries = 0, latent = 0;
  // [K, E, D]
  std::vector<float> codebooks;
};

// Memory-mapped. `items` (or what it was moved to) must outlive it.
class TokenTable {
 public:
  // The items' own codes where they are this codec's; else those in
  // folder/codes-<codec>-<items>.tar, which is made first when it is not there, with progress.
  TokenTable(const ItemFolder& items, const std::filesystem::path& folder, CodecTables codec);

  audio::Channels channels() const { return channels_; }
  int64_t books() const { return codec_.encoder.books * audio::channel_count(channels_); }
  int64_t latent() const { return codec_.latent; }
  // Shapes: [kItemFrames, K], [reference_frames, books of one channel].
  std::span<const uint16_t> target(int64_t item) const;
  std::span<const uint16_t> reference(int64_t item) const;
  int64_t reference_frames(int64_t item) const {
    return std::ssize(reference(item)) / codec_.encoder.books;
  }
  // Sum of each row's code vectors. Shapes: codes [n, K] -> out [n, D].
  void decode(std::span<const uint16_t> codes, std::span<float> out) const;
  // A reference's rows stand in the first channel's place; the others are zero. Shapes: codes [n,
  // books of one channel] -> out [n, D].
  void decode_reference(std::span<const uint16_t> codes, std::span<float> out) const;
  // How often each entry of each book is chosen over all targets: [K, E].
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
  CodecTables codec_;
  std::optional<MappedFile> file_;
  std::vector<Row> rows_;
};

}  // namespace hum::data

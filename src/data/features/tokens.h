// The codec's tokens of every rendered item, made once per codec and kept beside the items.
//
// K books, E entries, D latent size; kItemFrames frames of target, at most kReferenceFrames of
// reference.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/synthesis/item_files.h"

namespace hum::data {

// 5 s, the longest timbre reference.
inline constexpr int64_t kReferenceFrames = 250;

// What a codec brings: its code vectors and its encoder, a function so that data sees no model.
struct CodecTables {
  int64_t books = 0, entries = 0, latent = 0;
  // [K, E, D]
  std::vector<float> codebooks;
  // SHA-256 of the codec's weights: tokens of another codec are made anew.
  std::string fingerprint;
  // Windows of kItemSamples, one after another -> codes [windows, kItemFrames, K].
  std::function<std::vector<int32_t>(std::span<const float> windows)> encode;
};

class TokenTable {
 public:
  // Reads folder/tokens.bin when it fits the items and the codec, else encodes all items (with
  // progress) and writes it.
  TokenTable(const ItemFolder& items, const std::filesystem::path& folder, CodecTables codec);

  int64_t books() const { return codec_.books; }
  int64_t latent() const { return codec_.latent; }
  // Shapes: [kItemFrames, K], [kReferenceFrames, K] (rows past reference_frames are zero).
  std::span<const uint16_t> target(int64_t item) const;
  std::span<const uint16_t> reference(int64_t item) const;
  int64_t reference_frames(int64_t item) const {
    return reference_frames_[static_cast<size_t>(item)];
  }
  // Sum of the first `books` code vectors of each row. Shapes: codes [n, K] -> out [n, D].
  void decode(std::span<const uint16_t> codes, int64_t books, std::span<float> out) const;
  // How often each entry of each book is chosen over all targets: [K, E].
  std::vector<int64_t> histogram() const;

 private:
  bool read(const std::filesystem::path& file, int64_t items);
  void encode_all(const ItemFolder& items);
  void write(const std::filesystem::path& file) const;

  CodecTables codec_;
  std::vector<uint16_t> targets_, references_;
  std::vector<int64_t> reference_frames_;
};

}  // namespace hum::data

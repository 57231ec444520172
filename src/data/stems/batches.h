// Makes training batches of stems and their mixtures. A batch depends only on (seed, step).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "data/features/batches.h"
#include "data/stems/stem_shards.h"

namespace hum::data {

// By stem, in the order of kStems.
using StemShares = std::array<double, kStemCount>;

// How often stems are left out, so that each is absent in about kAbsentShare of all windows.
struct StemAbsence {
  StemShares dropped = {};        // of the stems that a window from one song has
  StemShares absent_in_mix = {};  // of windows mixed from several songs
};
inline constexpr double kAbsentShare = 0.3;
inline constexpr double kCoherentShare = 0.5;  // of windows from one song
// `silent`: the share of stored windows in which a stem is silent.
StemAbsence absence_for(const StemShares& silent);

// The windows of a folder, those of a song beside each other, in order of the songs' hashes. The
// last `held_out` are held out: whole songs, so that no song is in both parts.
struct SongSplit {
  std::vector<int64_t> windows;
  int64_t held_out = 0;
};
// Holds out `at_least` windows and what else their songs have. Throws: kBadData when a window does
// not name its song.
SongSplit split_by_song(const StemFolder& folder, int64_t at_least);

// A folder of stems with what the drawing of batches has to know of it.
class StemMaterial {
 public:
  // Uses the windows order[first] .. order[first + count - 1]; the folder must outlive it. Throws:
  // kBadData when a shard is damaged.
  StemMaterial(const StemFolder& folder, std::vector<int64_t> order, int64_t first, int64_t count);

  const StemFolder& folder() const { return folder_; }
  int64_t window(int64_t place) const { return order_[static_cast<size_t>(place)]; }
  const StemAbsence& absence() const { return absence_; }
  // The windows that have a stem.
  const std::vector<int64_t>& windows_with(Stem stem) const {
    return windows_[static_cast<size_t>(stem)];
  }

 private:
  const StemFolder& folder_;
  std::vector<int64_t> order_;
  std::array<std::vector<int64_t>, kStemCount> windows_;
  StemAbsence absence_;
};

// B windows of N samples at kStemRate.
struct StemBatch {
  std::vector<float> stems;    // [B, 6, 2, N], in the order of kStems
  std::vector<float> mixture;  // [B, 2, N]: their sum, to the bit if added in that order
};

// Crops at random places. Half of the windows are from one song, whose place in the material's
// order `order` chooses; in the others each stem is from a song drawn for it. A fifth of the lead,
// chordal and bass stems go through an amplifier. Each stem gets a gain of -9 to 9 dB, a balance,
// perhaps swapped channels and another polarity; 0.3 of the windows go through a limiter, which
// applies one gain over time to all stems. The mixture's peak is at most 1. Throws: kConfig if the
// windows are shorter than N.
StemBatch stem_batch(const StemMaterial& material, const ItemOrder& order, uint64_t seed,
                     int64_t step, int64_t batch, int64_t samples);

}  // namespace hum::data

// Stores sung items as WebDataset shards, and reads training batches from them: clean crops, put
// into new rooms and noises each time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/ranks.h"
#include "data/features/batches.h"
#include "data/singing/sung_item.h"

namespace hum::data {

struct SungOptions {
  int64_t seed = 1;
  double seconds = 12;
  double silent_share = 0.1;
  int64_t count = 6000;  // 20 hours
  int64_t items_per_shard = 64;
  int64_t threads = 0;  // 0: compute_threads()

  template <class V>
  void visit_fields(V& v) {
    v("seed", seed, "random seed; items are a function of (seed, index)");
    v("seconds", seconds, "length of an item");
    v("silent_share", silent_share, "share of items in which nobody sings");
    v("count", count, "number of items; 6000 of 12 s are 20 hours");
    v("items_per_shard", items_per_shard, "items in one tar file");
    v("threads", threads, "threads that make items (0: as many as hum computes with)");
  }
};

// Makes the missing shards of this rank's share; see make_shards. Throws what that throws; kConfig
// for values out of range. Calls should_stop before each item, from several threads at once.
bool make_sung_items(const std::filesystem::path& folder, const SungOptions& options,
                     ProcessRank rank = {}, const std::function<bool()>& should_stop = {});

// A view of one item in its mapped shard.
struct StoredSungItem {
  std::span<const int16_t> samples;
  std::span<const float> f0_hz;  // at (i + 1/2) kPitchHop; 0: no voice
  std::span<const float> notes;  // start_s, end_s, hz of each
};

// A folder of memory-mapped shards of sung items; reading is const and thread-safe.
class SungFolder {
 public:
  // Throws: what read_manifest throws; kBadData for other items.
  explicit SungFolder(const std::filesystem::path& folder);
  ~SungFolder();

  int64_t size() const;
  const StoredSungItem& operator[](int64_t i) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// B items, N samples (a multiple of kPitchHop), T = N / kPitchHop frames.
struct SungBatch {
  std::vector<float> audio;          // [B, N], at normalise_level's level
  std::vector<float> f0, note;       // [B, T]: MIDI pitch; -1: none
  std::vector<float> onset, offset;  // [B, T]: 1 at a frame with an event, falling to 0 in 20 ms
};

// Crops of the items in this order, which depend only on (seed, step). `clean`: without rooms and
// noises.
SungBatch sung_batch(const SungFolder& items, const ItemOrder& order, uint64_t seed, int64_t step,
                     int64_t batch, int64_t samples, bool clean = false);

}  // namespace hum::data

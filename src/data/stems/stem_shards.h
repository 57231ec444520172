// Stores windows of stems as WebDataset shards, and reads them: docs/formats/stems.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/json.h"
#include "base/ranks.h"
#include "data/stems/render.h"
#include "data/stems/song_source.h"
#include "data/stems/stem_options.h"

namespace hum::data {

// Of what a window sounds like and how it is stored: raise it when the same options make other
// bytes.
inline constexpr int64_t kStemsVersion = 3;

struct MakeStemsOptions {
  StemOptions material;
  int64_t count = 4500;
  int64_t windows_per_shard = 16;
  int64_t threads = 0;  // 0: compute_threads()

  template <class V>
  void visit_fields(V& v) {
    material.visit_fields(v);
    v("count", count, "number of windows");
    v("windows_per_shard", windows_per_shard, "windows in one tar file");
    v("threads", threads, "threads that make windows (0: as many as hum computes with)");
  }
};

// Makes the missing shards of this rank's share; see make_shards. Throws what that, SongSource and
// StemRenderer throw. Calls should_stop before each window, from several threads at once.
bool make_stems(const std::filesystem::path& folder, const MakeStemsOptions& options,
                const ComposeSong& compose, ProcessRank rank = {},
                const std::function<bool()>& should_stop = {});

// A view of one window in its mapped shard.
struct StoredStems {
  std::array<std::string_view, kStemCount> flac;  // by stem; empty: silent
  std::string_view meta_json;

  bool has(Stem stem) const { return !flac[static_cast<size_t>(stem)].empty(); }
  // Throws: kBadData when it does not parse.
  Json meta() const;
  // Decodes the frames from `first_frame` on that fill `interleaved`, stereo at kStemRate; zeros if
  // the stem is silent. Throws: what audio::read_flac throws, naming the stem.
  void read(Stem stem, int64_t first_frame, std::span<float> interleaved) const;
};

// A folder of memory-mapped shards of stems; reading is const and thread-safe.
class StemFolder {
 public:
  // Throws: what read_manifest throws; kBadData for other items.
  explicit StemFolder(const std::filesystem::path& folder);
  ~StemFolder();

  int64_t size() const;
  int64_t frames() const;  // of each window
  const StoredStems& operator[](int64_t i) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data

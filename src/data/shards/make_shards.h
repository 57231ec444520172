// Makes the shards of a folder of items, in parallel, by any number of processes, resumable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "base/ranks.h"
#include "data/shards/tar.h"

namespace hum::data {

struct ShardPlan {
  int64_t count = 0;  // of items in all shards
  int64_t items_per_shard = 0;
  int threads = 0;  // 0: compute_threads()
  ProcessRank rank = {};
};

// The items first_index, first_index + 1, ... of one shard.
struct ShardItems {
  uint64_t first_index = 0;
  int64_t count = 0;
};

// Makes a shard's archive; calls made_one after each item. Returns nothing if it was told to stop.
// Called from several threads.
using MakeShard = std::function<std::optional<std::string>(const ShardItems& items,
                                                           const std::function<void()>& made_one)>;

// A shard to which `add` adds one item after another, until should_stop, which may be empty, says
// so.
MakeShard one_by_one(std::function<bool()> should_stop,
                     std::function<void(TarWriter& shard, uint64_t index)> add);

// Makes the missing shards of this rank's share, the shards s with s % ranks == rank, and keeps
// intact ones. options: all that determines the shards' bytes, see ShardLedger. Shows progress.
// Returns whether the folder is complete, including the shares of other ranks.
// Throws: kUsage when the folder holds items of other options, kCannotCreate when it cannot be
// written, kConfig for a plan without items.
bool make_shards(const std::filesystem::path& folder, const Json& options, const ShardPlan& plan,
                 const MakeShard& make);

}  // namespace hum::data

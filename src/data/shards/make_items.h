// Makes training items and writes them as WebDataset shards: docs/formats/items.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/ranks.h"
#include "data/shards/item_codes.h"
#include "data/synthesis/items.h"

namespace hum::data {

struct MakeOptions {
  ItemOptions items;
  int64_t count = 12000;  // 20 hours
  int64_t items_per_shard = 64;
  int64_t threads = 0;  // 0: compute_threads()
  std::string codec;    // read by the caller, who hands over its encoder

  template <class V>
  void visit_fields(V& v) {
    v("items", items, "what is made");
    v("count", count, "items of 6 s; 12000 are 20 hours");
    v("items_per_shard", items_per_shard, "items in one tar file");
    v("threads", threads, "threads that make items; 0: all");
    v("codec", codec, "codec whose tokens the items get, e.g. weights/codec; empty: none");
  }
};

// What making items needs besides options. `encoder` is options.codec's.
struct MakeTools {
  Transcriber transcriber;  // without one no melody is transcribed
  TokenEncoder encoder;     // without one items get no codes
  ProcessRank rank;
  std::function<bool()> should_stop;  // asked before each item
};

// Makes what is missing of this rank's share: shards s with s % ranks == rank. Whole shards of the
// same options are kept, so an interrupted call is simply repeated, by as many processes as there
// are then, and a larger count later adds to what is there. A shard's bytes depend on the options
// and its number alone. Shows progress. Returns whether the folder is whole, the shares of other
// ranks included.
// Throws: kUsage when the folder holds items of other options, kCannotCreate when it cannot be
// written.
bool make_items(const std::filesystem::path& folder, const MakeOptions& options,
                const MakeTools& tools = {});

}  // namespace hum::data

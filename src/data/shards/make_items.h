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
  std::string codec;    // read by the caller, which passes its encoder

  template <class V>
  void visit_fields(V& v) {
    v("items", items, "contents of the items");
    v("count", count, "number of items, of 6 s each; 12000 are 20 hours");
    v("items_per_shard", items_per_shard, "items in one tar file");
    v("threads", threads, "threads that make items (0: as many as hum computes with)");
    v("codec", codec, "codec that encodes the items, e.g. weights/codec (empty: none)");
  }
};

// The functions that make_items() calls. `encoder`: that of options.codec.
struct MakeTools {
  Transcriber transcriber;  // without one no melody is transcribed
  std::string heard_by;     // names the transcriber in the manifest; empty: it has no name there
  TokenEncoder encoder;     // without one items get no codes
  ProcessRank rank;
  std::function<bool()> should_stop;  // called before each item, from several threads
};

// Makes the missing shards of this rank's share, the shards s with s % ranks == rank. It keeps
// intact shards of the same options. So an interrupted call can be repeated with any number of
// processes, and a larger count later adds shards. A shard's bytes depend only on the options and
// its number. Shows progress. Returns whether the folder is complete, including the shares of other
// ranks.
// Throws: kUsage when the folder holds items made with other options, kCannotCreate when it cannot
// be written.
bool make_items(const std::filesystem::path& folder, const MakeOptions& options,
                const MakeTools& tools = {});

}  // namespace hum::data

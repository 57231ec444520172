// Training items, and the presets' timbre references, made with the released models: what `hum
// data` does beside verifying.
#pragma once

#include <cstdint>
#include <string>

#include "base/ranks.h"

namespace hum::app {

struct MakeItemsOptions {
  std::string config, output = "runs/data";
  // What replaces the configuration's; 0, empty: nothing.
  std::string codec;
  int64_t count = 0, threads = 0;
  int64_t rank = -1, ranks = 0;  // -1, 0: as the launcher says
};

struct MadeItems {
  int stop_signal = 0;    // other than 0: stopped by it
  bool is_whole = false;  // the shares of other ranks included
  int64_t count = 0;
  ProcessRank rank;
};

// Throws: kUsage for a rank that is not one; what data::make_items throws.
MadeItems make_items(const MakeItemsOptions& options);

struct MadeReferences {
  std::string folder;
  size_t presets = 0;
};

// Writes the references of the presets that the items in `data` were made of, empty: of all
// training presets, beside the weights. `weights`: as --weights says.
MadeReferences make_references(const std::string& weights, const std::string& data);

}  // namespace hum::app

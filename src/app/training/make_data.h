// Makes training items, stems, and the presets' timbre references, for `hum data make`, `stems` and
// `references`.
#pragma once

#include <cstdint>
#include <string>

#include "base/ranks.h"

namespace hum::app {

struct MakeItemsOptions {
  // `config`: a YAML file, or the name of one in configs/; empty: the defaults.
  std::string config, output = "runs/data";
  // Replace the configuration's values; 0 or empty: keep them.
  std::string codec;
  int64_t count = 0, threads = 0;
  int64_t rank = -1, ranks = 0;  // -1, 0: as the launcher sets them
};

struct MadeItems {
  int stop_signal = 0;    // the signal that stopped it; 0: none
  bool is_whole = false;  // including the shares of other ranks
  int64_t count = 0;
  ProcessRank rank;
};

// Throws: kUsage for an invalid rank, count or number of threads; what data::make_items throws.
MadeItems make_items(const MakeItemsOptions& options);

// Makes windows of stems, training material for separation, by a configuration with `stems:`.
// Throws: what make_items throws for the options; what data::make_stems throws.
MadeItems make_stems(const MakeItemsOptions& options);

struct MadeReferences {
  std::string folder;
  size_t presets = 0;
  size_t residuals = 0;
};

// Writes the references of the presets of the items in `data` beside the weights; empty: those of
// all training presets, and how their held notes die away. If mono weights can draft them, also
// writes their residuals. `weights`: the
// value of --weights. Throws: kUsage if it is empty and would replace the references of the
// installed weights. A stop signal ends the process before anything is written.
MadeReferences make_references(const std::string& weights, const std::string& data);

}  // namespace hum::app

// hum train: trains the model of a configuration on the items that it names, and writes the
// weights.
#pragma once

#include <string>

#include "app/training/configuration.h"

namespace hum::app {

// Replace the configuration's values; empty: keep them.
struct TrainOptions {
  std::string run, output, data, compute, memory_limit;
  std::string init;  // weights folder to start from
};

struct TrainReport {
  int stop_signal = 0;  // the signal that stopped it, with no summary; 0: none
  Json summary;
};

// Throws: kUsage for a model that hum does not train, and for train_only without `init`; kConfig
// for invalid values; kTemporary when loop.max_minutes have passed; what the loop throws.
TrainReport train(ModelConfiguration configuration, const TrainOptions& options);

}  // namespace hum::app

// hum train: a model from its configuration, trained on the items that it names, its weights
// written.
#pragma once

#include <string>

#include "app/training/configuration.h"

namespace hum::app {

// What replaces the configuration's; empty: nothing.
struct TrainOptions {
  std::string run, output, data, compute, memory_limit;
  std::string init;  // weights folder to start from
};

struct TrainReport {
  int stop_signal = 0;  // other than 0: stopped by it, and there is no summary
  Json summary;
};

// Throws: kUsage for a model that is not trained and for train_only without `init`; kConfig for
// what makes no sense; kTemporary when loop.max_minutes are over; what the loop throws.
TrainReport train(ModelConfiguration configuration, const TrainOptions& options);

}  // namespace hum::app

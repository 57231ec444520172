// What `hum plan memory` tells: what a device needs for a training step of hum's own models.
#pragma once

#include <cstdint>
#include <string>

#include "app/plan/planned_step.h"
#include "base/json.h"

namespace hum::app {

struct MemoryOptions {
  std::string model;
  PlannedShape shape;
  int64_t devices = 1;            // data-parallel, each with all weights and moments
  std::string recompute = "all";  // none, selective, full; all: a row each
};

// {"model", "parameters", "devices", "memory_bytes": [{"recompute", "weights", "optimizer",
// "gradients", "activations", "temporaries", "collectives", "total"}]}. Throws: kUsage for a number
// of devices or a policy that is none; what planned_model throws.
Json memory_report(const MemoryOptions& options);
std::string memory_text(const Json& report);

}  // namespace hum::app

// The report of `hum plan memory`: the device memory of a training step of hum's own models.
#pragma once

#include <cstdint>
#include <string>

#include "app/plan/planned_step.h"
#include "base/json.h"

namespace hum::app {

struct MemoryOptions {
  std::string model;
  PlannedShape shape;
  int64_t devices = 1;            // data-parallel; each has all weights and moments
  std::string recompute = "all";  // none, selective, full; all: one row for each
};

// {"model", "parameters", "devices", "memory_bytes": [{"recompute", "weights", "optimizer",
// "gradients", "activations", "temporaries", "collectives", "total"}]}. Throws: kUsage for an
// invalid number of devices or policy; what planned_model throws.
Json memory_report(const MemoryOptions& options);
std::string memory_text(const Json& report);

}  // namespace hum::app

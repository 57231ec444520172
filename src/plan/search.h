// Enumerates the layouts of a model over a number of devices.
#pragma once

#include <optional>
#include <vector>

#include "plan/step_time.h"

namespace hum::plan {

struct Candidate {
  Layout layout;  // complete
  double seconds = 0, bytes = 0;
};

struct SearchResult {
  std::vector<Candidate> fitting;  // fastest first; one for each (tp, pp, recompute)
  int64_t tried = 0;
  int64_t too_large = 0;   // tried layouts that need more memory than a device has
  double least_bytes = 0;  // the smallest need of those
};

// All (tp, pp, dp, recompute) that divide model, batch and devices, each with the fastest
// micro-batch and interleave that fit. `like` gives the batch and the switches; its tp, pp,
// micro_batch and interleave are kept if above 0. Throws kUsage if none divides, with a number of
// nodes that does.
SearchResult search(const Transformer& model, const Layout& like, int64_t devices,
                    const Device& device, const Efficiency& efficiency);
// Same; if none divides, the result has nothing tried.
SearchResult search_if_any(const Transformer& model, const Layout& like, int64_t devices,
                           const Device& device, const Efficiency& efficiency);

// The number of nodes nearest to `nodes` that some layout divides and fits into; nothing if there
// is none.
std::optional<int64_t> nearest_nodes(const Transformer& model, const Layout& like,
                                     const Device& device, int64_t nodes);

// The batch, with the usual switches of the hardware's software and everything else open.
Layout usual_layout(const Stack& stack, int64_t global_batch);

// Of the fitting layouts, those not beaten in both time and memory, fastest first.
std::vector<Candidate> pareto_front(const std::vector<Candidate>& fitting);

}  // namespace hum::plan

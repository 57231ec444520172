// Every way to lay a model out over a number of devices.
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
  int64_t too_large = 0;   // of the tried, those that need more memory than a device has
  double least_bytes = 0;  // that any of those needs
};

// All (tp, pp, dp, recompute) that divide model, batch and devices, each with the micro-batch and
// interleave that are fastest among those that fit. `like` gives the batch and the switches; where
// its tp, pp, micro_batch or interleave is above 0, it stays. Throws kBadData when none divides,
// with a number of nodes that does.
SearchResult search(const Transformer& model, const Layout& like, int64_t devices,
                    const Device& device, const Efficiency& efficiency);
// The same; when none divides, nothing was tried.
SearchResult search_if_any(const Transformer& model, const Layout& like, int64_t devices,
                           const Device& device, const Efficiency& efficiency);

// Of the numbers of nodes that some layout divides and fits into, the nearest to `nodes`; nothing
// when there is none.
std::optional<int64_t> nearest_nodes(const Transformer& model, const Layout& like,
                                     const Device& device, int64_t nodes);

// The batch, with the switches as the hardware's software usually sets them and all else open.
Layout usual_layout(const Stack& stack, int64_t global_batch);

// Of the fitting, those that no other beats in both time and memory, fastest first.
std::vector<Candidate> pareto_front(const std::vector<Candidate>& fitting);

}  // namespace hum::plan

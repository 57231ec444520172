#include "plan/search.h"

#include <algorithm>

#include "base/error.h"
#include "plan/memory.h"

namespace hum::plan {

using graph::RecomputePolicy;

namespace {

bool divides(const Transformer& model, const Layout& l, int64_t devices) {
  return devices % (l.tp * l.pp) == 0 && model.heads % l.tp == 0 && model.layers % l.pp == 0 &&
         l.global_batch % (devices / (l.tp * l.pp)) == 0;
}

// tp and pp as given, or each that may be.
std::vector<Layout> meshes(const Transformer& model, const Layout& like, int64_t devices) {
  std::vector<Layout> all;
  for (int64_t tp = 1; tp <= std::min(devices, model.heads); ++tp) {
    for (int64_t pp = 1; pp <= std::min(devices / tp, model.layers); ++pp) {
      Layout l = like;
      if ((like.tp > 0 && tp != like.tp) || (like.pp > 0 && pp != like.pp)) continue;
      l.tp = tp;
      l.pp = pp;
      if (!divides(model, l, devices)) continue;
      l.dp = devices / (tp * pp);
      all.push_back(l);
    }
  }
  return all;
}

// What it needs with the smallest micro-batch and no interleaving.
double least_memory(const Transformer& model, Layout layout) {
  layout.micro_batch = layout.interleave = 1;
  return memory_per_device(model, layout).total();
}

}  // namespace

SearchResult search_if_any(const Transformer& model, const Layout& like, int64_t devices,
                           const Device& device, const Efficiency& efficiency) {
  validate(model);
  SearchResult result;
  const double limit = device.memory_gb.value * 1e9;
  for (const Layout& mesh : meshes(model, like, devices)) {
    for (const auto policy :
         {RecomputePolicy::kNone, RecomputePolicy::kSelective, RecomputePolicy::kFull}) {
      Layout layout = mesh;
      layout.recompute = policy;
      layout.micro_batch = layout.interleave = 0;
      ++result.tried;
      if (const double least = least_memory(model, layout); least > limit) {
        ++result.too_large;
        result.least_bytes = result.least_bytes > 0 ? std::min(result.least_bytes, least) : least;
        continue;
      }
      const Layout chosen = complete_layout(model, layout, device, efficiency);
      result.fitting.push_back({chosen, step_time(model, chosen, device, efficiency).total(),
                                memory_per_device(model, chosen).total()});
    }
  }
  std::ranges::stable_sort(result.fitting, {}, &Candidate::seconds);
  return result;
}

SearchResult search(const Transformer& model, const Layout& like, int64_t devices,
                    const Device& device, const Efficiency& efficiency) {
  SearchResult result = search_if_any(model, like, devices, device, efficiency);
  if (result.tried == 0) {
    fail(ExitCode::kBadData,
         fmt::format("no tp x pp x dp of {} devices divides {} heads, {} layers and a batch of {}",
                     devices, model.heads, model.layers, like.global_batch),
         fmt::format("a number of devices that does: {}",
                     nearest_divisor(like.global_batch, devices)));
  }
  return result;
}

Layout usual_layout(const Stack& stack, int64_t global_batch) {
  Layout layout;
  layout.tp = layout.pp = 0;
  layout.global_batch = global_batch;
  layout.flash_attention = stack.flash_attention;
  layout.sequence_parallel = stack.sequence_parallel;
  layout.distributed_optimizer = stack.distributed_optimizer;
  layout.overlap_gradients = stack.overlap_gradients;
  return layout;
}

std::vector<Candidate> pareto_front(const std::vector<Candidate>& fitting) {
  std::vector<Candidate> front;
  for (const Candidate& candidate : fitting) {
    if (front.empty() || candidate.bytes < front.back().bytes) front.push_back(candidate);
  }
  return front;
}

}  // namespace hum::plan

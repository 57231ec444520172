#include "plan/search.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/error.h"
#include "plan/memory.h"

namespace hum::plan {

using graph::RecomputePolicy;

namespace {

bool divides(const Transformer& model, const Layout& l, int64_t devices) {
  return devices % (l.tp * l.pp) == 0 && model.heads % l.tp == 0 && model.layers % l.pp == 0 &&
         l.global_batch % (devices / (l.tp * l.pp)) == 0;
}

// All meshes; tp and pp stay as given if they are set.
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

constexpr RecomputePolicy kPolicies[] = {RecomputePolicy::kNone, RecomputePolicy::kSelective,
                                         RecomputePolicy::kFull};

// Memory needed with the smallest micro-batch and no interleaving.
double least_memory(const Transformer& model, Layout layout) {
  layout.micro_batch = layout.interleave = 1;
  return memory_per_device(model, layout).total();
}

bool fits_somehow(const Transformer& model, Layout layout, const Device& device) {
  return std::ranges::any_of(kPolicies, [&](RecomputePolicy policy) {
    layout.recompute = policy;
    return least_memory(model, layout) <= device.memory_gb.value * 1e9;
  });
}

// The divisors of `whole`; only `given` if it is above 0.
std::vector<int64_t> choices(int64_t whole, int64_t given = 0) {
  std::vector<int64_t> result = divisors(whole);
  if (given > 0) std::erase_if(result, [given](int64_t d) { return d != given; });
  return result;
}

// The factor by which the batch must grow to be divisible over the devices.
int64_t odd_factor(const Transformer& model, const Layout& like, int64_t devices) {
  int64_t left = devices;
  for (const int64_t whole : {model.heads, model.layers, like.global_batch})
    left /= std::gcd(left, whole);
  return left;
}

}  // namespace

SearchResult search_if_any(const Transformer& model, const Layout& like, int64_t devices,
                           const Device& device, const Efficiency& efficiency) {
  validate(model);
  SearchResult result;
  const double limit = device.memory_gb.value * 1e9;
  for (const Layout& mesh : meshes(model, like, devices)) {
    for (const auto policy : kPolicies) {
      Layout layout = mesh;
      layout.recompute = policy;
      ++result.tried;
      if (const double least = least_memory(model, layout); least > limit) {
        ++result.too_large;
        result.least_bytes = result.least_bytes > 0 ? std::min(result.least_bytes, least) : least;
        continue;
      }
      const auto chosen = fastest_schedule(model, layout, device, efficiency);
      if (!chosen) continue;
      result.fitting.push_back({*chosen, step_time(model, *chosen, device, efficiency).total(),
                                memory_per_device(model, *chosen).total()});
    }
  }
  std::ranges::stable_sort(result.fitting, {}, &Candidate::seconds);
  return result;
}

SearchResult search(const Transformer& model, const Layout& like, int64_t devices,
                    const Device& device, const Efficiency& efficiency) {
  SearchResult result = search_if_any(model, like, devices, device, efficiency);
  if (result.tried == 0) {
    const auto nodes =
        static_cast<int64_t>(static_cast<double>(devices) / device.devices_per_node.value);
    const auto nearest = nearest_nodes(model, like, device, nodes);
    fail(ExitCode::kUsage,
         fmt::format("no tp x pp x dp of {} devices divides {} heads, {} layers and a batch of {}",
                     devices, model.heads, model.layers, like.global_batch),
         nearest ? fmt::format("the nearest number of nodes that does: {}", *nearest)
                 : fmt::format("--batch {} does",
                               like.global_batch * odd_factor(model, like, devices)));
  }
  return result;
}

std::optional<int64_t> nearest_nodes(const Transformer& model, const Layout& like,
                                     const Device& device, int64_t nodes) {
  const auto per_node = static_cast<int64_t>(device.devices_per_node.value);
  std::optional<int64_t> nearest;
  Layout l = like;
  for (const int64_t tp : choices(model.heads, like.tp)) {
    for (const int64_t pp : choices(model.layers, like.pp)) {
      for (const int64_t dp : choices(like.global_batch)) {
        l.tp = tp, l.pp = pp, l.dp = dp;
        const int64_t here = l.devices() / per_node;
        if (l.devices() % per_node != 0) continue;
        if (nearest && std::abs(here - nodes) >= std::abs(*nearest - nodes)) continue;
        if (fits_somehow(model, l, device)) nearest = here;
      }
    }
  }
  return nearest;
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

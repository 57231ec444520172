#include "cli/plan_outlook.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace hum::cli {

namespace {

std::string describe(const plan::Layout& l) {
  return fmt::format("--tp {} --pp {} --micro-batch {} --interleave {} --recompute {} (dp {})",
                     l.tp, l.pp, l.micro_batch, l.chunks(), to_name(l.recompute), l.dp);
}

plan::Layout wished_layout(const LayoutWishes& wishes, const plan::Stack& stack) {
  plan::Layout layout = plan::usual_layout(stack, wishes.global_batch);
  layout.tp = wishes.tp;
  layout.pp = wishes.pp;
  return layout;
}

// Says what a mesh that was given in full does wrong.
void validate_mesh(const plan::Transformer& model, const plan::Layout& like,
                   const Cluster& cluster) {
  if (like.tp == 0 || like.pp == 0) return;
  const int64_t devices = cluster.devices();
  const auto refuse_split = [&](const char* what, int64_t wanted, int64_t whole) {
    fail(ExitCode::kBadData,
         fmt::format("tp {} x pp {} does not divide the {} devices of {} nodes", like.tp, like.pp,
                     devices, cluster.nodes),
         fmt::format("the nearest {} that does is {}", what, plan::nearest_divisor(whole, wanted)));
  };
  if (devices % like.tp != 0) refuse_split("tp", like.tp, std::gcd(devices, model.heads));
  if (devices / like.tp % like.pp != 0) refuse_split("pp", like.pp, devices / like.tp);
  plan::Layout mesh = like;
  mesh.dp = devices / (like.tp * like.pp);
  plan::validate(model, mesh);
}

void keep_policy(plan::SearchResult& found, const std::string& recompute) {
  if (recompute == "auto") return;
  const auto policy = from_name<graph::RecomputePolicy>(recompute);
  std::erase_if(found.fitting, [&](const auto& c) { return c.layout.recompute != policy; });
}

// Sets micro-batch and interleave where they are wished; drops what then does not fit or divide.
void keep_schedule(plan::SearchResult& found, const LayoutWishes& wishes,
                   const plan::Transformer& model, const plan::Device& device,
                   const plan::Efficiency& efficiency) {
  if (wishes.micro_batch == 0 && wishes.interleave == 0) return;
  std::vector<plan::Candidate> kept;
  for (plan::Candidate c : found.fitting) {
    c.layout.micro_batch = wishes.micro_batch > 0 ? wishes.micro_batch : c.layout.micro_batch;
    c.layout.interleave = wishes.interleave > 0 ? wishes.interleave : 1;
    if (c.layout.global_batch / c.layout.dp % c.layout.micro_batch != 0) continue;
    if (model.layers / c.layout.pp % c.layout.interleave != 0) continue;
    c.bytes = plan::memory_per_device(model, c.layout).total();
    c.seconds = plan::step_time(model, c.layout, device, efficiency).total();
    if (c.bytes <= device.memory_gb.value * 1e9) kept.push_back(c);
  }
  std::ranges::stable_sort(kept, {}, &plan::Candidate::seconds);
  found.fitting = std::move(kept);
}

[[noreturn]] void refuse(const plan::Transformer& model, const plan::Layout& like,
                         const Cluster& cluster, const plan::Efficiency& efficiency) {
  plan::Layout free = like;
  free.tp = free.pp = 0;
  const double limit = cluster.device->memory_gb.value * 1e9;
  const auto all = plan::search(model, free, cluster.devices(), *cluster.device, efficiency);
  if (!all.fitting.empty()) {
    fail(ExitCode::kBadData,
         fmt::format("no layout as asked fits into the {:.1f} GB of a {} and divides the batch",
                     limit / 1e9, cluster.device->name),
         "the fastest that does: " + describe(all.fitting.front().layout));
  }
  fail(ExitCode::kBadData,
       fmt::format("{:.1f}B parameters fit into {} devices of {:.1f} GB in no way: the least is "
                   "{:.1f} GB a device",
                   model.parameters() / 1e9, cluster.devices(), limit / 1e9, all.least_bytes / 1e9),
       fmt::format("from about {} nodes on it may",
                   static_cast<int64_t>(
                       std::ceil(static_cast<double>(cluster.nodes) * all.least_bytes / limit))));
}

}  // namespace

Cluster parse_cluster(const std::string& text, const plan::Hardware& hardware) {
  const auto colon = text.rfind(':');
  Cluster cluster;
  const char* end = text.data() + text.size();
  if (colon != std::string::npos) {
    const auto parsed = std::from_chars(text.data() + colon + 1, end, cluster.nodes);
    if (parsed.ec != std::errc() || parsed.ptr != end) cluster.nodes = 0;
  }
  if (cluster.nodes <= 0 || cluster.nodes > 100000) {
    fail(ExitCode::kUsage, fmt::format("'{}' is not a cluster", text),
         "hardware:nodes, e.g. trn1.32xlarge:16");
  }
  cluster.device = &hardware.at(text.substr(0, colon));
  return cluster;
}

plan::SearchResult find_layouts(const plan::Transformer& model, const LayoutWishes& wishes,
                                const Cluster& cluster, const plan::Efficiency& efficiency) {
  for (const int64_t value : {wishes.tp, wishes.pp, wishes.micro_batch, wishes.interleave}) {
    if (value < 0) {
      fail(ExitCode::kBadData, fmt::format("{} ranks, stages or sequences", value),
           "0 leaves the choice to the search");
    }
  }
  if (wishes.global_batch <= 0)
    fail(ExitCode::kBadData, fmt::format("a global batch of {}", wishes.global_batch));
  const plan::Layout like = wished_layout(wishes, cluster.device->stack);
  validate_mesh(model, like, cluster);
  auto found = plan::search(model, like, cluster.devices(), *cluster.device, efficiency);
  keep_policy(found, wishes.recompute);
  keep_schedule(found, wishes, model, *cluster.device, efficiency);
  if (found.fitting.empty()) refuse(model, like, cluster, efficiency);
  return found;
}

}  // namespace hum::cli

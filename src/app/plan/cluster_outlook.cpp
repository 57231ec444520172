#include "app/plan/cluster_outlook.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "app/plan/planner_files.h"
#include "app/plan/plot.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "plan/named_models.h"

namespace hum::app {

namespace {

std::string describe(const plan::Layout& l) {
  return fmt::format(
      "--tp {} --pp {} --micro-batch {} --interleave {} --recompute {} --zero {} (dp {})", l.tp,
      l.pp, l.micro_batch, l.chunks(), to_name(l.recompute), l.distributed_optimizer ? 1 : 0, l.dp);
}

plan::Layout wished_layout(const LayoutWishes& wishes, const plan::Stack& stack) {
  plan::Layout layout = plan::usual_layout(stack, wishes.global_batch);
  layout.tp = wishes.tp;
  layout.pp = wishes.pp;
  layout.micro_batch = wishes.micro_batch;
  layout.interleave = wishes.interleave;
  if (wishes.zero != "auto") layout.distributed_optimizer = wishes.zero == "1";
  return layout;
}

void require_one_of(const char* flag, const std::string& value,
                    std::initializer_list<const char*> values) {
  if (std::ranges::find(values, value) != values.end()) return;
  fail(ExitCode::kUsage,
       fmt::format("--{}: '{}' is not one of {}", flag, value, fmt::join(values, ", ")),
       "auto lets the search choose");
}

void validate_wishes(const LayoutWishes& wishes) {
  for (const int64_t value : {wishes.tp, wishes.pp, wishes.micro_batch, wishes.interleave}) {
    if (value < 0) {
      fail(ExitCode::kUsage, fmt::format("{} is not a number of ranks, stages or sequences", value),
           "0 lets the search choose");
    }
  }
  if (wishes.global_batch <= 0) {
    fail(ExitCode::kUsage, fmt::format("a batch of {} is too small", wishes.global_batch),
         "--batch is the number of sequences per step over all devices, e.g. 1024");
  }
  require_one_of("recompute", wishes.recompute, {"none", "selective", "full", "auto"});
  require_one_of("zero", wishes.zero, {"0", "1", "auto"});
}

// Rejects a mesh, given in part or in full, that does not divide the model or the devices.
void validate_mesh(const plan::Transformer& model, const plan::Layout& like,
                   const Cluster& cluster) {
  const int64_t devices = cluster.devices();
  const auto require_splits = [&](const char* name, int64_t parts, int64_t left, int64_t whole,
                                  const char* what) {
    const int64_t common = std::gcd(left, whole);
    if (parts == 0 || common % parts == 0) return;
    fail(ExitCode::kUsage,
         fmt::format("{} {} does not divide both {} devices and {} {}", name, parts, left, whole,
                     what),
         fmt::format("the nearest {} that does is {}", name, plan::nearest_divisor(common, parts)));
  };
  require_splits("tp", like.tp, devices, model.heads, "heads");
  require_splits("pp", like.pp, devices / std::max<int64_t>(like.tp, 1), model.layers, "layers");
  if (like.tp == 0 || like.pp == 0) return;
  plan::Layout mesh = like;
  mesh.dp = devices / (like.tp * like.pp);
  plan::validate(model, mesh);
}

void keep_policy(plan::SearchResult& found, const std::string& recompute) {
  if (recompute == "auto") return;
  const auto policy = from_name<graph::RecomputePolicy>(recompute);
  std::erase_if(found.fitting, [&](const auto& c) { return c.layout.recompute != policy; });
}

// The layouts that fit and match the wishes; there may be none.
plan::SearchResult search_wished(const plan::Transformer& model, const LayoutWishes& wishes,
                                 const Cluster& cluster, const plan::Efficiency& efficiency) {
  auto found = plan::search_if_any(model, wished_layout(wishes, cluster.device->stack),
                                   cluster.devices(), *cluster.device, efficiency);
  keep_policy(found, wishes.recompute);
  return found;
}

// Variants of the wishes with one left open, least important first; the last leaves all open.
std::vector<LayoutWishes> relaxed(const LayoutWishes& wishes) {
  std::vector<LayoutWishes> result(6, wishes);
  result[0].micro_batch = 0;
  result[1].interleave = 0;
  result[2].recompute = "auto";
  result[3].zero = "1";
  result[4].pp = 0;
  result[5].tp = 0;
  result.push_back({.global_batch = wishes.global_batch, .zero = wishes.zero});
  result.push_back({.global_batch = wishes.global_batch, .zero = "1"});
  return result;
}

// The longest of 1/2, 1/4, ... of the sequence at which some layout fits; 0: none.
int64_t shorter_sequence(plan::Transformer model, const LayoutWishes& wishes,
                         const Cluster& cluster, const plan::Efficiency& efficiency) {
  while (model.sequence > 1) {
    model.sequence /= 2;
    if (!search_wished(model, wishes, cluster, efficiency).fitting.empty()) return model.sequence;
  }
  return 0;
}

[[noreturn]] void refuse(const plan::Transformer& model, const LayoutWishes& wishes,
                         const Cluster& cluster, const plan::Efficiency& efficiency) {
  const plan::Device& device = *cluster.device;
  for (const LayoutWishes& looser : relaxed(wishes)) {
    const auto found = search_wished(model, looser, cluster, efficiency);
    if (found.fitting.empty()) continue;
    fail(ExitCode::kUsage,
         fmt::format(
             "no layout with these flags fits into the {:.1f} GB of a {} and divides the batch",
             device.memory_gb.value, device.name),
         "the nearest that does: " + describe(found.fitting.front().layout));
  }
  const LayoutWishes given = {.global_batch = wishes.global_batch};
  LayoutWishes splitting = given;
  splitting.zero = "1";
  const plan::Layout free = wished_layout(splitting, device.stack);
  const auto all = plan::search(model, free, cluster.devices(), device, efficiency);
  const std::string what = fmt::format(
      "{:.1f}B parameters do not fit into {} devices of {:.1f} GB: the smallest layout needs "
      "{:.1f} "
      "GB per device",
      model.parameters() / 1e9, cluster.devices(), device.memory_gb.value, all.least_bytes / 1e9);
  const auto usual =
      plan::nearest_nodes(model, wished_layout(given, device.stack), device, cluster.nodes);
  const auto split = plan::nearest_nodes(model, free, device, cluster.nodes);
  if (usual && usual == split)
    fail(ExitCode::kUsage, what, fmt::format("{}:{} is enough", device.name, *usual));
  if (split) {
    fail(ExitCode::kUsage, what,
         fmt::format("{0}:{1} is enough with --zero 1{2}", device.name, *split,
                     usual ? fmt::format(", {}:{} without", device.name, *usual) : ""));
  }
  const int64_t sequence = shorter_sequence(model, given, cluster, efficiency);
  fail(ExitCode::kUsage, what + ", and more nodes do not help",
       sequence > 0 ? fmt::format("--seq {} fits", sequence) : "use a smaller model");
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
  if (cluster.nodes <= 0 || cluster.nodes > 100000 || colon == 0) {
    fail(ExitCode::kUsage, fmt::format("'{}' is not a cluster", text),
         "use hardware:nodes with 1 to 100000 nodes, e.g. trn1.32xlarge:16");
  }
  const std::string name = text.substr(0, colon);
  cluster.device = &hardware.node(name);
  if (cluster.device->name != name) spdlog::info("{}: using {}", name, cluster.device->name);
  return cluster;
}

plan::Transformer with_sequence(plan::Transformer model, int64_t seq) {
  if (seq < 0) {
    fail(ExitCode::kUsage, fmt::format("--seq {} is not a number of tokens", seq),
         "0 takes the model's longest sequence");
  }
  if (seq > 0) model.sequence = seq;
  return model;
}

plan::SearchResult find_layouts(const plan::Transformer& model, const LayoutWishes& wishes,
                                const Cluster& cluster, const plan::Efficiency& efficiency) {
  validate_wishes(wishes);
  validate_mesh(model, wished_layout(wishes, cluster.device->stack), cluster);
  auto found = search_wished(model, wishes, cluster, efficiency);
  if (found.fitting.empty()) refuse(model, wishes, cluster, efficiency);
  return found;
}

Json look_ahead(const OutlookOptions& options) {
  if (!options.plot.empty()) require_plot(options.plot);
  const plan::Hardware hardware = read_hardware(options.hardware_file);
  const Cluster cluster = parse_cluster(options.cluster, hardware);
  const auto model = with_sequence(plan::named_model(options.model), options.seq);
  const auto calibration = read_calibration_for(*cluster.device, options.calibration);
  const auto found = find_layouts(model, options.layout, cluster, calibration.efficiency);
  const auto outlook = plan::look_ahead(model, found.fitting.front().layout, *cluster.device,
                                        calibration, options.goal);
  Json report = outlook_report(options.model, model, cluster, outlook);
  if (!options.plot.empty()) {
    Json drawn = report;
    drawn["layouts"] = layouts_report(found);
    write_layouts_plot(options.plot, drawn);
  }
  if (options.search) report["layouts"] = layouts_report(found);
  return report;
}

}  // namespace hum::app

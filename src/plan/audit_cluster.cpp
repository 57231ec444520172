// Rules about the layout, the cluster's devices, and their speed.
#include <algorithm>
#include <array>
#include <cmath>

#include "plan/audit_impl.h"

namespace hum::plan::internal {

namespace {

// Largest allowed deviation from a vendor's figure. Tolerates GB instead of GiB, and rounding.
constexpr double kVendorShare = 0.1;

void check_equal(const std::string& subject, const Side& stated, const Side& found, Places where,
                 Checks& checks) {
  checks.push_back({"", subject, stated.value == found.value, stated, found, std::move(where),
                    figure_text(found.value)});
}

std::string mesh_text(const RunClaims& run) {
  return fmt::format("ranks: dp {} x tp {} x pp {}", run.dp.value(), run.tp.value(),
                     run.pp.value_or(1));
}

// Data-parallel ranks that fill the cluster; nothing if tp x pp does not divide it.
std::optional<double> filling_dp(const RunFacts& run) {
  const auto cores = run.cores();
  if (!cores || !run.run.tp) return std::nullopt;
  const double model_ranks = run.run.tp.value() * run.run.pp.value_or(1);
  if (std::fmod(*cores, model_ranks) != 0) return std::nullopt;
  return *cores / model_ranks;
}

void check_mesh(const RunFacts& run, Checks& checks) {
  const auto cores = run.cores(), ranks = run.ranks();
  if (!cores || !ranks) return;
  const auto dp = filling_dp(run);
  checks.push_back(
      {"",
       run.subject(),
       *ranks == *cores,
       {*ranks, mesh_text(run.run)},
       {*cores,
        fmt::format("devices: {} nodes of {}", run.run.nodes.value(), *run.cores_per_node())},
       places(run.run.dp, run.run.tp, run.run.pp, run.run.nodes, run.run.cores_per_node),
       dp ? fmt::format("dp = {}", *dp) : ""});
}

// FLOP/s of all devices.
std::optional<double> peak_of(const RunFacts& run) {
  const auto cores = run.cores();
  if (!cores || run.device == nullptr) return std::nullopt;
  return *cores * run.device->peak_tflops.value * 1e12;
}

// 6 FLOPs per parameter and token: a lower bound for any transformer.
std::optional<double> flops_per_token(const RunFacts& run) {
  if (run.model == nullptr) return std::nullopt;
  const auto count = parameters(*run.model);
  if (!count) return std::nullopt;
  return 6 * *count;
}

// Tokens of all steps with this many data-parallel ranks.
std::optional<double> planned_tokens(const RunFacts& run, double dp) {
  const RunClaims& r = run.run;
  const auto& sequence = r.sequence || run.model == nullptr ? r.sequence : run.model->positions;
  if (!r.micro_batch || !r.steps || !sequence) return std::nullopt;
  return r.micro_batch.value() * r.accumulation.value_or(1) * dp * sequence.value() *
         r.steps.value();
}

void check_flops_of(const RunFacts& run, double dp, Checks& checks) {
  const auto tokens = planned_tokens(run, dp), peak = peak_of(run), flops = flops_per_token(run);
  if (!tokens || !peak || !flops || !run.run.days) return;
  const double days = *tokens * *flops / *peak / 86400;
  const double share = days / run.run.days.value();
  checks.push_back(
      {"",
       run.subject(),
       share <= 1,
       {run.run.days.value(), "days"},
       {days, fmt::format("days at peak for {:.4g} tokens with dp {}: needs {:.0f} % "
                          "of peak",
                          *tokens, dp, 100 * share)},
       places(run.run.days, run.run.steps, run.run.micro_batch, run.run.accumulation, run.run.dp),
       fmt::format("at least {:.1f} days, or at most {} steps", days,
                   figure_text(run.run.steps.value() / share))});
}

void check_vendor(const std::string& subject, const Stated& stated, const char* what,
                  const Figure& figure, double times, Checks& checks, std::string remedy = "") {
  if (!stated || figure.value <= 0) return;
  const double value = figure.value * times;
  checks.push_back({"",
                    subject,
                    is_within(stated.value(), value, kVendorShare),
                    {stated.value(), what},
                    {value, fmt::format("according to {} ({})", figure.source, figure.date)},
                    places(stated),
                    remedy.empty() ? figure_text(value) : std::move(remedy)});
}

struct Tool {
  std::string_view name, source;
  std::array<std::string_view, 3> flags;
  std::array<std::string_view, 12> fields;
};

constexpr Tool kTools[] = {
    {"neuron-monitor",
     "aws-neuron-sdk, neuron-monitor user guide",
     {"--verbose", "-c", "--config-file"},
     {"neuron_runtime_data", "report", "neuroncore_counters", "neuroncores_in_use",
      "neuroncore_utilization", "flops", "execution_stats", "error_summary", "execution_summary",
      "latency_stats", "memory_used", "system_data"}},
};

template <size_t N>
void check_words(const ToolClaims& claims, const std::vector<std::string>& words,
                 const std::array<std::string_view, N>& known, const char* kind, const Tool& tool,
                 Checks& checks) {
  for (const std::string& word : words) {
    checks.push_back(
        {"",
         claims.name,
         std::ranges::find(known, word) != known.end(),
         {1, fmt::format("{} {}", kind, word)},
         {static_cast<double>(known.size()), fmt::format("according to {}", tool.source)},
         {claims.place},
         fmt::format("{}", fmt::join(known, ", "))});
  }
}

}  // namespace

void check_ranks(const Facts& facts, Checks& checks) {
  for (const RunFacts& run : facts.runs()) {
    check_mesh(run, checks);
    const RunClaims& r = run.run;
    const auto cores = run.cores_per_node();
    if (!r.ranks_per_node) continue;
    const double started = r.ranks_per_node.value();
    if (cores) {
      check_equal(run.subject(), {started, "processes started per node"},
                  {*cores, "devices per node"}, places(r.ranks_per_node, r.cores_per_node), checks);
    }
    if (r.nodes && run.ranks()) {
      check_equal(run.subject(), {*run.ranks(), mesh_text(r)},
                  {started * r.nodes.value(), "processes started in total"},
                  places(r.ranks_per_node, r.nodes, r.dp, r.tp, r.pp), checks);
    }
  }
}

void check_devices(const Facts& facts, Checks& checks) {
  for (const RunFacts& run : facts.runs()) {
    if (run.device == nullptr) continue;
    const RunClaims& r = run.run;
    const double cores = run.device->devices_per_node.value;
    const double chips = cores / run.device->per_chip();
    const auto compare = [&](const Stated& stated, const char* what, double found) {
      if (!stated) return;
      check_equal(run.subject(), {stated.value(), what}, {found, what + (" of " + r.hardware)},
                  places(stated, r.nodes), checks);
    };
    compare(r.cores_per_node, "cores per node", cores);
    compare(r.chips_per_node, "chips per node", chips);
    if (!r.nodes) continue;
    compare(r.cores, "cores in total", cores * r.nodes.value());
    compare(r.chips, "chips in total", chips * r.nodes.value());
  }
}

void check_batch(const Facts& facts, Checks& checks) {
  for (const RunFacts& run : facts.runs()) {
    const RunClaims& r = run.run;
    if (!r.global_batch || !r.micro_batch || !r.dp) continue;
    const Stated& repeats = r.accumulation ? r.accumulation : r.micro_batches;
    check_equal(run.subject(), {r.global_batch.value(), "sequences per step"},
                {r.micro_batch.value() * repeats.value_or(1) * r.dp.value(),
                 "micro-batch x accumulation x dp"},
                places(r.global_batch, r.micro_batch, repeats, r.dp), checks);
  }
}

void check_flops(const Facts& facts, Checks& checks) {
  for (const RunFacts& run : facts.runs()) {
    const auto filling = filling_dp(run);
    if (run.run.dp) check_flops_of(run, run.run.dp.value(), checks);
    if (filling && *filling != run.run.dp.value_or(0)) check_flops_of(run, *filling, checks);
  }
}

void check_utilization(const Facts& facts, Checks& checks) {
  constexpr double kShare = 0.25;
  for (const RunFacts& run : facts.runs()) {
    const auto peak = peak_of(run), flops = flops_per_token(run);
    if (!peak || !flops || !run.run.tokens_per_second) continue;
    const double mfu = 100 * run.run.tokens_per_second.value() * *flops / *peak;
    const double stated = run.run.utilization_percent.value_or(100);
    const bool agrees = run.run.utilization_percent ? is_within(stated, mfu, kShare) : mfu <= 100;
    checks.push_back({"",
                      run.subject(),
                      agrees,
                      {stated, run.run.utilization_percent ? "% utilization" : "% or less"},
                      {mfu, fmt::format("% of peak: 6 FLOPs x parameters x {} tokens/s",
                                        run.run.tokens_per_second.value())},
                      places(run.run.utilization_percent, run.run.tokens_per_second),
                      fmt::format("{} tokens/s",
                                  figure_text(run.run.tokens_per_second.value() * stated / mfu))});
  }
}

void check_hardware(const Facts& facts, Checks& checks) {
  for (const HardwareClaims& quoted : facts.claims.hardware) {
    const Device* device = facts.device(quoted.name);
    if (device == nullptr) continue;
    const double cores = device->devices_per_node.value, per_chip = device->per_chip();
    const double fp8 = device->peak_fp8_tflops.value * per_chip;
    const bool is_fp8 =
        quoted.chip_tflops && fp8 > 0 && is_within(quoted.chip_tflops.value(), fp8, kVendorShare);
    check_vendor(quoted.name, quoted.chip_tflops, "TFLOP/s per chip, 16-bit", device->peak_tflops,
                 per_chip, checks,
                 is_fp8 ? fmt::format("{} dense 16-bit; {} is the 8-bit peak",
                                      figure_text(device->peak_tflops.value * per_chip),
                                      figure_text(quoted.chip_tflops.value()))
                        : "");
    check_vendor(quoted.name, quoted.chip_memory_gb, "GB per chip", device->memory_gb, per_chip,
                 checks);
    check_vendor(quoted.name, quoted.chip_memory_gb_per_s, "GB/s per chip", device->memory_gb_per_s,
                 per_chip, checks);
    check_vendor(quoted.name, quoted.node_memory_gb, "GB per node", device->memory_gb, cores,
                 checks);
    check_vendor(quoted.name, quoted.network_gbit_per_s, "Gbit/s per node",
                 device->network_gb_per_s, 8, checks);
    check_vendor(quoted.name, quoted.cores_per_node, "cores per node", device->devices_per_node, 1,
                 checks);
    check_vendor(quoted.name, quoted.chips_per_node, "chips per node", device->devices_per_node,
                 1 / per_chip, checks);
  }
}

void check_tools(const Facts& facts, Checks& checks) {
  for (const ToolClaims& claims : facts.claims.tools) {
    const auto tool = std::ranges::find(kTools, claims.name, &Tool::name);
    if (tool == std::end(kTools)) continue;
    check_words(claims, claims.flags, tool->flags, "flag", *tool, checks);
    check_words(claims, claims.fields, tool->fields, "field", *tool, checks);
  }
}

}  // namespace hum::plan::internal

#include "plan/assessment.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "plan/audit.h"

namespace hum::plan {

namespace {

constexpr double kValidationDays = 2;  // on one node; source: the field report
constexpr double kPilotDays = 2;       // on the whole cluster; at most one run

constexpr double kSlower = 1.5;  // a run that takes longer by more than this factor is a risk

std::string whole(double value) { return figure_text(std::round(value)); }

double cost_at(const Option& option, double step_s) {
  return option.on_demand().cost * step_s / option.outlook->prediction.time.total();
}
double cost_low(const Option& option) { return cost_at(option, option.outlook->prediction.low_s); }
double cost_high(const Option& option) {
  return cost_at(option, option.outlook->prediction.high_s);
}

void require_fits(const Option& option) {
  if (option.outlook) return;
  const std::string cluster = fmt::format("{}:{}", option.device->name, option.nodes);
  if (option.least_bytes <= 0) {
    fail(ExitCode::kUsage, fmt::format("no layout divides the batch over {}", cluster),
         "a power of two usually works: change --batch or the number of nodes");
  }
  fail(ExitCode::kUsage,
       fmt::format("the model does not fit into {}: needs {:.1f} GB per device of {:.1f}", cluster,
                   option.least_bytes / 1e9, option.device->memory_gb.value),
       enough_nodes(option));
}

void require_a_move(const Option& from, const Option& to) {
  if (from.device->platform == "cuda" && to.device->platform != "cuda") return;
  fail(ExitCode::kUsage,
       fmt::format("from {} ({}) to {} ({}): only moves from NVIDIA GPUs to another "
                   "platform are assessed",
                   from.device->name, from.device->platform, to.device->name, to.device->platform),
       "hum plan compare compares any clusters");
}

std::vector<const OperatorUse*> uses_with(const Assessment& a, Support support) {
  std::vector<const OperatorUse*> found;
  for (const OperatorUse& use : a.operators) {
    if (use.support == support) found.push_back(&use);
  }
  return found;
}

std::string missing_text(const OperatorUse& use) {
  return fmt::format("{} is unsupported on the target ({}; {} made at {})", use.op, use.hint,
                     use.count == 1 ? "one" : fmt::format("{}, the first", use.count),
                     use.where.empty() ? "an unknown line" : use.where.front());
}

// A missing operator decides the advice. The advice without it is appended as a reason.
Verdict judge(const Assessment& a, const Option& from, const Option& to, const Market& market,
              const Situation& situation) {
  Verdict otherwise = decide(from, to, market, situation);
  const auto missing = uses_with(a, Support::kUnsupported);
  if (missing.empty()) return otherwise;
  Verdict verdict;
  for (const OperatorUse* use : missing) verdict.reasons.push_back(missing_text(*use));
  verdict.reasons.push_back(fmt::format("after a rewrite: {}, {}", to_name(otherwise.advice),
                                        fmt::join(otherwise.reasons, "; ")));
  return verdict;
}

Advice stay_unless(bool holds) { return holds ? Advice::kMove : Advice::kStay; }
Advice pilot_unless(bool holds) { return holds ? Advice::kMove : Advice::kPilot; }

std::vector<Threshold> thresholds(const Assessment& a, const Option& from, const Option& to,
                                  const Situation& situation) {
  const double monthly = monthly_budget(from, situation), months = situation.project_months;
  const double days = to.on_demand().days, runs = a.migration.break_even_runs;
  const double saving = a.migration.saving_per_run;
  const double back_months = runs * days * 24 / kHoursPerMonth;
  const size_t missing = uses_with(a, Support::kUnsupported).size();
  const auto& outside = to.outlook->prediction.outside;
  const bool is_own = situation.custom_architecture;
  std::vector<Threshold> rows = {
      {"every operator is supported",
       is_own ? "custom operators" : fmt::format("{} missing", missing),
       stay_unless(missing == 0 && !is_own)},
      {fmt::format("the project lasts {:g} months or more", kShortestProjectMonths),
       months > 0 ? fmt::format("{:g} months", months) : "no end given",
       stay_unless(months == 0 || months >= kShortestProjectMonths)},
      {fmt::format("at least ${:.0f}k per month for a pilot, more than ${:.0f}k to move",
                   kPilotBudget / 1e3, kMoveBudget / 1e3),
       fmt::format("${:.0f}k", monthly / 1e3),
       monthly < kPilotBudget ? Advice::kStay : pilot_unless(monthly > kMoveBudget)},
      {"a run costs less on the target",
       fmt::format("${} {}", whole(std::abs(saving)), saving < 0 ? "more" : "less"),
       stay_unless(saving > 0)},
      {"paid back within the project",
       std::isfinite(runs) ? fmt::format("after {:.1f} runs, {:.1f} months", runs, back_months)
                           : "never",
       stay_unless(std::isfinite(runs) && (months == 0 || back_months <= months))},
      {fmt::format("a run takes more than {:g} days", kShortestRunDays),
       fmt::format("{:.1f} days", days), pilot_unless(days > kShortestRunDays)},
      {"the prediction is within its calibration",
       outside.empty() ? "yes" : fmt::format("{} figures outside", outside.size()),
       pilot_unless(outside.empty())}};
  return rows;
}

std::vector<Change> program_changes(const Option& to) {
  const Layout& l = to.outlook->prediction.layout;
  return {
      {"static shapes", "pad or pack sequences to one fixed length: each new shape recompiles"},
      {"one graph per step",
       "mark the end of a step (xm.optimizer_step); read losses only there, every N steps"},
      {"precision", "bf16 without loss scaling; with stochastic rounding two runs differ"},
      {"custom kernels", "replace CUDA kernels by plain operators or by the platform's kernels"},
      {"layout",
       fmt::format("tp {} x pp {} x dp {}, micro-batch {}, recompute {}{}", l.tp, l.pp, l.dp,
                   l.micro_batch, to_name(l.recompute), l.distributed_optimizer ? ", ZeRO-1" : "")},
      {"compile cache",
       "a folder shared by all nodes that survives restarts; compile ahead of the run"}};
}

std::vector<std::string> risks(const Option& from, const Option& to) {
  std::vector<std::string> found;
  for (const Option* side : {&from, &to}) {
    const auto& outside = side->outlook->prediction.outside;
    if (!outside.empty())
      found.push_back(fmt::format("outside the calibration of {}: {}", side->device->name,
                                  fmt::join(outside, ", ")));
  }
  if (to.on_demand().cost < from.on_demand().cost && cost_high(to) > cost_low(from))
    found.push_back(
        fmt::format("the cost intervals overlap (target at most ${}, current "
                    "at least ${}): the saving is likely, not certain",
                    whole(cost_high(to)), whole(cost_low(from))));
  const double slower = to.on_demand().days / from.on_demand().days;
  if (slower > kSlower)
    found.push_back(
        fmt::format("the run takes {:.1f} times as long on the target: use more nodes", slower));
  const double filled = to.outlook->memory.total() / to.outlook->memory_limit;
  if (filled > 0.85)
    found.push_back(
        fmt::format("the plan uses {:.0f} % of the memory: if the compiler needs more, it "
                    "rejects the step; use more recomputation or tp",
                    100 * filled));
  if (to.device->platform == "neuron")
    found.push_back(
        "the first compilation of a large step takes 30 to 60 minutes while the cluster idles");
  found.push_back(fmt::format("prices are from {} ({}) and {} ({})",
                              from.device->price_per_node_hour.date, from.device->name,
                              to.device->price_per_node_hour.date, to.device->name));
  return found;
}

std::vector<Stage> stages(const Assessment& a, const Option& to) {
  const Outlook& o = *to.outlook;
  const Offer& run = to.on_demand();
  const double step_s = o.prediction.time.total();
  const double low = o.tokens_per_s * step_s / o.prediction.high_s;
  const double nodes = static_cast<double>(to.nodes);
  const double pilot_days = std::min(kPilotDays, run.days);
  return {{"port", "the changes on this page, on one node, with as few layers as possible",
           "a step compiles; the losses of 100 steps match the GPUs' within bf16 rounding",
           7 * a.migration.weeks, a.migration.cost},
          {"validate", "one node, full width; run hum plan calibrate on its step times",
           fmt::format("at least {} tokens/s per node, the low end of the interval",
                       whole(low / nodes)),
           kValidationDays, kValidationDays * 24 * run.node_hour},
          {"pilot", fmt::format("all {} nodes, from a checkpoint of the GPU run", to.nodes),
           fmt::format("at least {} tokens/s: below that, a run saves nothing",
                       whole(a.break_even_tokens_per_s)),
           pilot_days, pilot_days * run.cost / run.days},
          {"move", "the whole run; the GPUs remain for research",
           "goodput as planned, checked weekly", run.days, run.cost}};
}

}  // namespace

bool Assessment::is_supported() const { return uses_with(*this, Support::kUnsupported).empty(); }

Assessment assess(const graph::Function& step, const Option& from, const Option& to,
                  const Market& market, const Situation& situation) {
  require_a_move(from, to);
  require_fits(from);
  require_fits(to);
  Assessment a;
  a.operators = check_operators(step, from.device->platform, to.device->platform);
  const auto missing = static_cast<double>(uses_with(a, Support::kUnsupported).size());
  const double base_weeks = to.device->migration_weeks.value;
  a.weeks_low = base_weeks * kWeeksLow + missing * kRewriteWeeks;
  a.weeks_high = base_weeks * kWeeksHigh + missing * kRewriteWeeks;
  Device slower = *to.device;
  slower.migration_weeks.value += missing * kRewriteWeeks;
  Option moved = to;
  moved.device = &slower;
  a.migration = migrate(from, moved, market);
  a.verdict = judge(a, from, moved, market, situation);
  a.break_even_tokens_per_s =
      to.outlook->tokens_per_s * to.on_demand().cost / from.on_demand().cost;
  a.thresholds = thresholds(a, from, to, situation);
  a.changes = program_changes(to);
  a.risks = risks(from, to);
  a.stages = stages(a, to);
  return a;
}

}  // namespace hum::plan

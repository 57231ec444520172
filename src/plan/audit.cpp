#include "plan/audit.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "plan/audit_impl.h"

namespace hum::plan {

namespace internal {

std::optional<double> RunFacts::cores_per_node() const {
  if (device != nullptr) return device->devices_per_node.value;
  if (run.cores_per_node) return run.cores_per_node.value();
  return std::nullopt;
}

std::optional<double> RunFacts::cores() const {
  const auto per_node = cores_per_node();
  if (!run.nodes || !per_node) return std::nullopt;
  return run.nodes.value() * *per_node;
}

std::optional<double> RunFacts::ranks() const {
  if (!run.dp || !run.tp) return std::nullopt;
  return run.dp.value() * run.tp.value() * run.pp.value_or(1);
}

std::optional<double> RunFacts::cost() const {
  if (run.total_cost) return run.total_cost.value();
  if (run.compute_cost) return run.compute_cost.value() + run.other_cost.value_or(0);
  return std::nullopt;
}

std::optional<double> RunFacts::trained_tokens() const {
  if (run.tokens_per_second && run.days) {
    return run.tokens_per_second.value() * run.days.value() * 86400;
  }
  if (run.tokens) return run.tokens.value();
  return std::nullopt;
}

const Device* Facts::device(const std::string& name) const { return hardware.find(name); }

std::vector<RunFacts> Facts::runs() const {
  std::vector<RunFacts> result;
  for (const RunClaims& run : claims.runs) {
    const auto model = std::ranges::find_if(claims.models, [&](const ModelClaims& candidate) {
      return run.model.empty() || candidate.name == run.model || candidate.name.empty();
    });
    result.push_back({run, model == claims.models.end() ? nullptr : &*model, device(run.hardware)});
  }
  return result;
}

const RunFacts Facts::run(const std::string& name) const {
  std::string names;
  for (const RunFacts& facts : runs()) {
    if (facts.run.name == name) return facts;
    names += (names.empty() ? "" : ", ") + facts.run.name;
  }
  fail(ExitCode::kBadData, fmt::format("no run '{}'", name), "the plan has " + names);
}

bool is_within(double stated, double found, double share) {
  return std::abs(found - stated) <= share * std::abs(stated);
}

bool is_rounded(double stated, double found) {
  double unit = std::pow(10.0, std::floor(std::log10(stated)));
  for (int digits = 0; digits < 12; ++digits, unit /= 10) {
    const double steps = stated / unit;
    if (std::abs(steps - std::round(steps)) < 1e-6) break;
  }
  // The small tolerance covers sums that are not exact in binary.
  return std::abs(found - stated) <= std::min(unit / 2, stated / 10) + 1e-9 * stated;
}

bool is_same_percent(double stated, double found) { return std::abs(found - stated) <= 1; }

}  // namespace internal

namespace {

struct Row {
  Rule rule;
  void (*check)(const internal::Facts& facts, std::vector<Check>& checks);
};

constexpr Row kRows[] = {
    {{"stated twice", "a figure stated in several places has the same value in all"},
     internal::check_stated_twice},
    {{"one name", "models with the same name have the same size"}, internal::check_one_name},
    {{"parameters", "the model's shape gives the stated number of parameters"},
     internal::check_parameters},
    {{"heads", "heads divide the width and split evenly over tensor-parallel ranks"},
     internal::check_heads},
    {{"layers", "blocks split evenly over pipeline stages"}, internal::check_layers},
    {{"positions", "the model has a position for every token"}, internal::check_positions},
    {{"batch", "micro-batches, accumulation and dp multiply to the global batch"},
     internal::check_batch},
    {{"ranks", "dp x tp x pp and the started processes fill the cluster"}, internal::check_ranks},
    {{"devices", "the cluster has the stated number of chips and cores"}, internal::check_devices},
    {{"flops", "the tokens can be computed in the time"}, internal::check_flops},
    {{"utilization", "the tokens' FLOP/s relative to the hardware's peak"},
     internal::check_utilization},
    {{"hardware", "quoted figures match the vendor's"}, internal::check_hardware},
    {{"tools", "programs have the flags and fields that the plan uses"}, internal::check_tools},
    {{"bill", "price x nodes x time, summed over parts, is the cost"}, internal::check_bill},
    {{"price", "prices match the hardware's list prices"}, internal::check_price},
    {{"savings", "costs differ by the stated amount"}, internal::check_savings},
    {{"speed", "times and rates differ by the stated amount"}, internal::check_speed},
    {{"same job", "runs whose costs are compared train on the same number of tokens"},
     internal::check_same_job},
};

}  // namespace

std::span<const Rule> rules() {
  static const std::vector<Rule> kRules = [] {
    std::vector<Rule> result;
    for (const Row& row : kRows) result.push_back(row.rule);
    return result;
  }();
  return kRules;
}

std::vector<Check> audit(const PlanClaims& claims, const Hardware& hardware) {
  std::vector<Check> result;
  for (const Row& row : kRows) {
    internal::Checks checks;
    row.check({claims, hardware}, checks);
    for (Check& check : checks) {
      check.rule = row.rule.name;
      result.push_back(std::move(check));
    }
  }
  return result;
}

std::string figure_text(double value) {
  if (std::abs(value) < 1000) return fmt::format("{:.4g}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (int64_t at = std::ssize(digits) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    digits.insert(at, ",");
  return digits;
}

}  // namespace hum::plan

#include "bench/plan.h"

#include <algorithm>
#include <iostream>
#include <set>

#include "base/fields_json.h"
#include "base/folders.h"
#include "plan/baselines.h"
#include "plan/fit.h"
#include "plan/score.h"

namespace hum::bench {

namespace {

constexpr double kMulti = 8, kSingle = 12, kMegatron = 8, kTrn1 = 12, kRecompute = 5, kRegret = 3;

// Predictions of one device's published runs: in sample, and with each model left out of the fit.
struct Judged {
  std::vector<plan::Campaign> campaigns;
  std::vector<std::vector<double>> in_sample, held_out;

  size_t index(const std::string& name) const {
    for (size_t i = 0; i < campaigns.size(); ++i) {
      if (campaigns[i].name == name) return i;
    }
    fail(ExitCode::kNoInput, "no runs named " + name);
  }
};

// For the smoke form: runs spread over each file.
constexpr size_t kSmokeRuns = 24;

void thin_out(std::vector<plan::Run>& runs) {
  const size_t count = std::min(runs.size(), kSmokeRuns);
  for (size_t i = 0; i < count; ++i) runs[i] = runs[i * runs.size() / count];
  runs.resize(count);
}

Judged judge(const std::string& device_name, const Scale& scale) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_folder() / "tests/data/planner")) {
    if (entry.path().filename().string().starts_with(device_name + "_"))
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  const plan::Hardware hardware;
  const plan::Device& device = hardware.at(device_name);
  Judged judged;
  for (const auto& file : files) judged.campaigns.push_back(plan::read_campaign(file, hardware));
  if (scale.smoke) {
    for (auto& campaign : judged.campaigns) thin_out(campaign.runs);
  }
  const plan::Efficiency all = plan::fit(judged.campaigns, device);
  judged.held_out = plan::leave_one_model_out(judged.campaigns, device, all).seconds;
  for (const auto& campaign : judged.campaigns) {
    auto& seconds = judged.in_sample.emplace_back();
    for (const auto& run : campaign.runs) seconds.push_back(plan::predict(run, device, all));
  }
  return judged;
}

std::vector<double> measured(const plan::Campaign& campaign) {
  std::vector<double> seconds;
  for (const auto& run : campaign.runs) seconds.push_back(run.measured_s);
  return seconds;
}

size_t models(const plan::Campaign& campaign) {
  std::set<std::pair<int64_t, int64_t>> shapes;
  for (const auto& run : campaign.runs) shapes.emplace(run.model.hidden, run.model.layers);
  return shapes.size();
}

// Mean absolute errors on runs of held-out models.
struct HeldOut {
  double mape_percent = 0;
  double null_percent = 1e9;  // of the better null model
};

// Adds a file's scores to the bar's figures and prints them as a table on stderr.
HeldOut report(eval::Bar& bar, const Judged& judged, const std::string& file) {
  const size_t i = judged.index(file);
  const auto truth = measured(judged.campaigns[i]);
  eval::TextTable table({file, "MAPE %", "worst %", "bias %", "rank"});
  const auto row = [&](const std::string& name, plan::Score score) {
    table.row({name, fmt::format("{:.2f}", score.mape_percent),
               fmt::format("{:.1f}", score.worst_percent),
               fmt::format("{:+.2f}", score.bias_percent),
               fmt::format("{:.3f}", score.rank_correlation)});
    return to_json(score);
  };
  const plan::Score held_out = plan::score(judged.held_out[i], truth);
  HeldOut result{.mape_percent = held_out.mape_percent};
  Json& ours = bar.ours[file];
  ours["in_sample"] = row("in sample", plan::score(judged.in_sample[i], truth));
  ours["leave_one_model_out"] = row("leave one model out", held_out);
  for (const bool per_tp : {false, true}) {
    const std::string name = per_tp ? "a TFLOP/s for each tp" : "one TFLOP/s";
    const plan::Score null =
        plan::score(plan::null_model_held_out(judged.campaigns[i], per_tp), truth);
    bar.peer[file][name] = row("null: " + name, null);
    result.null_percent = std::min(result.null_percent, null.mape_percent);
  }
  std::cerr << table.text() << "\n";
  return result;
}

// A bar on the held-out error per file; the headline is the largest. Its text states the number of
// runs and whether a null model would also pass.
eval::Bar error_bar(const std::string& name, const Scale& scale, double limit,
                    const std::vector<std::pair<std::string, std::string>>& device_files) {
  eval::Bar bar{.name = name, .unit = "% mean absolute error"};
  double most = 0, null = 0;
  size_t runs = 0, shapes = 0;
  for (const auto& [device, file] : device_files) {
    const Judged judged = judge(device, scale);
    const plan::Campaign& campaign = judged.campaigns[judged.index(file)];
    runs += campaign.runs.size();
    shapes += models(campaign);
    const HeldOut held_out = report(bar, judged, file);
    most = std::max(most, held_out.mape_percent);
    null = std::max(null, held_out.null_percent);
    bar.checks.at_most(file, held_out.mape_percent, limit);
  }
  bar.bar = fmt::format(
      "<= {} %, leave one model out ({} runs of {} models; a constant TFLOP/s {} "
      "with {:.1f} %)",
      limit, runs, shapes, null <= limit ? "also passes," : "fails", null);
  bar.value = most;
  return bar;
}

}  // namespace

eval::Bar plan_a100_multi(const Scale& scale) {
  const std::string file = "a100_multi_node.csv";
  eval::Bar bar = error_bar("plan-a100-multi", scale, kMulti, {{"a100", file}});
  double null = 1e9;
  for (const auto& [name, score] : bar.peer[file].items())
    null = std::min(null, score["mape_percent"].get<double>());
  bar.bar += ", and under half the error of the better null model";
  bar.checks.at_most("share_of_null", bar.value.get<double>() / null, 0.5);
  return bar;
}

eval::Bar plan_a100_single(const Scale& scale) {
  return error_bar("plan-a100-single", scale, kSingle, {{"a100", "a100_single_node.csv"}});
}

eval::Bar plan_megatron(const Scale& scale) {
  return error_bar("plan-megatron", scale, kMegatron,
                   {{"a100", "a100_megatron_sc21.csv"}, {"h100", "h100_megatron_core.csv"}});
}

eval::Bar plan_trn1(const Scale& scale) {
  return error_bar("plan-trn1", scale, kTrn1, {{"trn1", "trn1_pretraining.csv"}});
}

eval::Bar plan_recompute(const Scale& scale) {
  eval::Bar bar{
      .name = "plan-recompute",
      .unit = "percentage points, worst error",
      .bar = fmt::format("time saved by selective recomputation within {} percentage points, leave "
                         "one model out",
                         kRecompute)};
  const Judged judged = judge("a100", scale);
  const size_t i = judged.index("a100_selective_recompute.csv");
  eval::TextTable table({"run", "measured saving %", "predicted %"});
  double worst = 0;
  const auto& runs = judged.campaigns[i].runs;
  const auto& held_out = judged.held_out[i];
  for (size_t r = 0; r + 1 < runs.size(); r += 2) {  // full, then selective
    const double was = 100 * (1 - runs[r + 1].measured_s / runs[r].measured_s);
    const double predicted = 100 * (1 - held_out[r + 1] / held_out[r]);
    worst = std::max(worst, std::abs(predicted - was));
    table.row({runs[r].name, fmt::format("{:.1f}", was), fmt::format("{:.1f}", predicted)});
    bar.ours[runs[r].name] = {{"measured_percent", was}, {"predicted_percent", predicted}};
  }
  std::cerr << table.text();
  bar.value = worst;
  bar.checks.at_most("worst_points", worst, kRecompute);
  return bar;
}

eval::Bar plan_regret(const Scale& scale) {
  const Judged judged = judge("a100", scale);
  const size_t i = judged.index("a100_multi_node.csv");
  const plan::Regret regret = plan::top_regret(judged.campaigns[i], judged.held_out[i]);
  eval::Bar bar{
      .name = "plan-regret",
      .value = regret.worst_percent,
      .unit = "% slower than the fastest",
      .bar = fmt::format("the plan predicted to be fastest is <= {} % slower than the "
                         "fastest measured, on every model ({} decisions, among {} plans)",
                         kRegret, regret.decisions, regret.plans)};
  bar.ours["decisions"] = regret.decisions;
  bar.ours["plans"] = regret.plans;
  bar.ours["in_sample_percent"] =
      plan::top_regret(judged.campaigns[i], judged.in_sample[i]).worst_percent;
  bar.checks.at_most("regret_percent", regret.worst_percent, kRegret);
  return bar;
}

}  // namespace hum::bench

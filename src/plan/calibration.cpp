#include "plan/calibration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "base/hash.h"
#include "plan/logs.h"
#include "plan/memory.h"

namespace hum::plan {

namespace {

std::map<std::string, double> properties(const Run& run, const Layout& layout) {
  const auto d = [](int64_t value) { return static_cast<double>(value); };
  std::map<std::string, double> all = {
      {"parameters", run.work ? run.work->parameters : run.model.parameters()},
      {"tp", d(layout.tp)},
      {"pp", d(layout.pp)},
      {"dp", d(layout.dp)},
      {"devices", d(layout.devices())}};
  if (run.work) return all;
  all.insert({{"hidden", d(run.model.hidden)},
              {"layers", d(run.model.layers)},
              {"seq", d(run.model.sequence)},
              {"micro_batch", d(layout.micro_batch)},
              {"recompute", d(static_cast<int64_t>(layout.recompute))},
              {"flash_attention", d(layout.flash_attention)}});
  return all;
}

Layout layout_of(const Run& run, const Device& device, const Efficiency& efficiency) {
  return run.work ? run.layout : complete_layout(run.model, run.layout, device, efficiency);
}

std::map<std::string, Range> coverage(const std::vector<Campaign>& campaigns, const Device& device,
                                      const Efficiency& efficiency) {
  std::map<std::string, Range> covered;
  for (const Campaign& campaign : campaigns) {
    for (const Run& run : campaign.runs) {
      const Layout layout = layout_of(run, device, efficiency);
      for (const auto& [name, value] : properties(run, layout)) {
        const auto [entry, is_new] = covered.try_emplace(name, Range{value, value});
        entry->second.lowest = std::min(entry->second.lowest, value);
        entry->second.highest = std::max(entry->second.highest, value);
      }
    }
  }
  return covered;
}

struct Times {
  std::vector<double> measured, in_sample, held_out, log_errors;
};

Times times_of(const Campaign& campaign, const std::vector<double>& held_out, const Device& device,
               const Efficiency& efficiency) {
  Times times;
  for (size_t i = 0; i < campaign.runs.size(); ++i) {
    const double measured = campaign.runs[i].measured_s;
    if (measured <= 0) continue;
    times.measured.push_back(measured);
    times.in_sample.push_back(predict(campaign.runs[i], device, efficiency));
    times.held_out.push_back(held_out[i]);
    times.log_errors.push_back(std::log(held_out[i] / measured));
  }
  return times;
}

// All logs form one campaign.
std::vector<Campaign> read_campaigns(const std::vector<std::filesystem::path>& files,
                                     const Hardware& hardware, const std::string& device_name) {
  std::vector<Campaign> campaigns;
  std::vector<std::filesystem::path> logs;
  for (const auto& file : files) {
    if (is_log(file)) {
      logs.push_back(file);
    } else {
      campaigns.push_back(read_campaign(file, hardware, device_name));
    }
  }
  if (!logs.empty()) campaigns.push_back(read_logs(logs, hardware, device_name));
  for (const Campaign& campaign : campaigns) {
    if (campaign.device == campaigns.front().device) continue;
    fail(ExitCode::kBadData,
         fmt::format("{} has runs of {}, {} of {}", campaigns.front().name,
                     campaigns.front().device, campaign.name, campaign.device),
         "a calibration covers one hardware; name it with --hardware if the files do not");
  }
  if (campaigns.empty())
    fail(ExitCode::kUsage, "no file of runs was given", "hum plan calibrate runs.csv");
  return campaigns;
}

// Scores per file: of all its runs for a table, of its one run for a log.
std::vector<FileFit> score_files(const std::vector<std::filesystem::path>& files, bool are_logs,
                                 const Times& t) {
  std::vector<FileFit> fits;
  for (const auto& file : files) {
    const size_t first = are_logs ? fits.size() : 0;
    const size_t count = are_logs ? 1 : t.measured.size();
    const auto part = [&](const std::vector<double>& all) {
      return std::span(all).subspan(first, count);
    };
    const std::string name = are_logs ? short_name(file) : file.filename().string();
    fits.push_back({name, sha256_file(file), score(part(t.in_sample), part(t.measured)),
                    score(part(t.held_out), part(t.measured))});
  }
  return fits;
}

void set_interval(Calibration& calibration, const std::vector<Times>& all) {
  double worst = 0;
  for (const Times& t : all) {
    const double width = conformal_half_width(t.log_errors, kIntervalProbability);
    if (std::isfinite(width)) calibration.interval_log = std::max(calibration.interval_log, width);
    for (const double error : t.log_errors) worst = std::max(worst, std::abs(error));
  }
  if (calibration.interval_log > 0) return;
  calibration.interval_assumed = true;
  calibration.interval_log = std::max(kAssumedIntervalLog, worst);
}

void name_borrowed(Calibration& calibration, const Fitted& fitted) {
  for (size_t i = 0; i < fitted.size(); ++i) {
    if (!fitted[i]) calibration.borrowed.emplace_back(kEfficiencyNames[i]);
  }
}

}  // namespace

Calibration calibrate(const std::vector<std::filesystem::path>& files, const Hardware& hardware,
                      const std::string& device_name) {
  const auto campaigns = read_campaigns(files, hardware, device_name);
  Device device = hardware.at(campaigns.front().device);
  Calibration result{.device = device.name, .stack = device.stack.name};
  result.lender = "the hardware's prior";
  if (!device.borrows.empty()) {
    device.prior = read_calibration(calibration_path(device.borrows)).efficiency;
    result.lender = device.borrows;
  }
  result.efficiency = fit(campaigns, device);
  name_borrowed(result, told_apart(campaigns, device));
  const HeldOut held = leave_one_model_out(campaigns, device, result.efficiency);
  result.models = held.models;
  std::vector<Times> times;
  std::vector<std::filesystem::path> logs, tables;
  std::ranges::partition_copy(files, std::back_inserter(logs), std::back_inserter(tables), is_log);
  for (size_t c = 0; c < campaigns.size(); ++c) {
    times.push_back(times_of(campaigns[c], held.seconds[c], device, result.efficiency));
    const bool are_logs = c >= tables.size();
    const auto fits = score_files(are_logs ? logs : std::vector{tables[c]}, are_logs, times.back());
    result.files.insert(result.files.end(), fits.begin(), fits.end());
    if (are_logs) result.notes = campaigns[c].assumptions;
  }
  set_interval(result, times);
  result.covered = coverage(campaigns, device, result.efficiency);
  return result;
}

namespace {

// Efficiencies that affect more than this share of the time.
constexpr double kMatters = 0.05;

void add_borrowed(Prediction& p, Run run, const Device& device, const Calibration& calibration) {
  if (calibration.borrowed.empty()) return;
  run.layout = p.layout;
  const auto shares = elasticities(run, device, calibration.efficiency);
  const auto values = to_vector(calibration.efficiency);
  for (size_t i = 0; i < shares.size(); ++i) {
    const bool is_borrowed =
        std::ranges::find(calibration.borrowed, kEfficiencyNames[i]) != calibration.borrowed.end();
    if (!is_borrowed || std::abs(shares[i]) < kMatters) continue;
    p.outside.push_back(
        fmt::format("{} {:.3g} (borrowed from {}: {:.0f} % of the time depends on it)",
                    kEfficiencyNames[i], values[i], calibration.lender, 100 * std::abs(shares[i])));
  }
}

}  // namespace

Prediction predict(const Run& run, const Device& device, const Calibration& calibration) {
  Prediction p;
  p.layout = layout_of(run, device, calibration.efficiency);
  p.time = run.work ? step_time(*run.work, device, calibration.efficiency)
                    : step_time(run.model, p.layout, device, calibration.efficiency);
  for (const auto& [name, value] : properties(run, p.layout)) {
    const auto range = calibration.covered.find(name);
    if (range == calibration.covered.end()) continue;
    if (value >= range->second.lowest && value <= range->second.highest) continue;
    p.outside.push_back(fmt::format("{} {} (calibrated on {} to {})", name, value,
                                    range->second.lowest, range->second.highest));
  }
  if (!device.borrows.empty() && calibration.device == device.borrows) {
    p.outside.push_back(
        fmt::format("hardware {} (calibrated on {}; not fitted to runs of this hardware)",
                    device.name, device.borrows));
  }
  add_borrowed(p, run, device, calibration);
  const double needs = run.work ? 0 : memory_per_device(run.model, p.layout).total();
  if (needs > device.memory_gb.value * 1e9) {
    p.outside.push_back(fmt::format("memory {:.1f} GB (a {} has {:.1f} GB)", needs / 1e9,
                                    device.name, device.memory_gb.value));
  }
  const double width = std::exp(calibration.interval_log * (p.outside.empty() ? 1 : 2));
  p.low_s = p.time.total() / width;
  p.high_s = p.time.total() * width;
  return p;
}

}  // namespace hum::plan

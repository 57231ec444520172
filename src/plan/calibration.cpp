#include "plan/calibration.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "plan/memory.h"

namespace hum::plan {

namespace {

std::map<std::string, double> properties(const Run& run, const Layout& layout) {
  const auto d = [](int64_t value) { return static_cast<double>(value); };
  return {{"hidden", d(run.model.hidden)},
          {"layers", d(run.model.layers)},
          {"seq", d(run.model.sequence)},
          {"tp", d(layout.tp)},
          {"pp", d(layout.pp)},
          {"dp", d(layout.dp)},
          {"devices", d(layout.devices())},
          {"micro_batch", d(layout.micro_batch)},
          {"recompute", d(static_cast<int64_t>(layout.recompute))},
          {"flash_attention", d(layout.flash_attention)}};
}

std::map<std::string, Range> coverage(const std::vector<Campaign>& campaigns, const Device& device,
                                      const Efficiency& efficiency) {
  std::map<std::string, Range> covered;
  for (const Campaign& campaign : campaigns) {
    for (const Run& run : campaign.runs) {
      const Layout layout = complete_layout(run.model, run.layout, device, efficiency);
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

}  // namespace

Calibration calibrate(const std::vector<std::filesystem::path>& files, const Hardware& hardware,
                      const std::string& device_name) {
  std::vector<Campaign> campaigns;
  for (const auto& file : files) {
    campaigns.push_back(read_campaign(file, hardware, device_name));
    if (campaigns.back().device != campaigns.front().device) {
      fail(ExitCode::kBadData,
           fmt::format("{} is of {}, {} of {}", campaigns.front().name, campaigns.front().device,
                       campaigns.back().name, campaigns.back().device),
           "one calibration is of one hardware; --hardware names it where files do not");
    }
  }
  if (campaigns.empty()) fail(ExitCode::kUsage, "no file of runs");
  const Device& device = hardware.at(campaigns.front().device);
  Calibration result{.device = device.name, .stack = device.stack.name};
  result.efficiency = fit(campaigns, device);
  const HeldOut held = leave_one_model_out(campaigns, device, result.efficiency);
  result.models = held.models;
  for (size_t c = 0; c < campaigns.size(); ++c) {
    const Times t = times_of(campaigns[c], held.seconds[c], device, result.efficiency);
    const double width = conformal_half_width(t.log_errors, kIntervalProbability);
    if (std::isfinite(width)) result.interval_log = std::max(result.interval_log, width);
    result.files.push_back({campaigns[c].name, sha256_file(files[c]),
                            score(t.in_sample, t.measured), score(t.held_out, t.measured)});
  }
  if (result.interval_log <= 0) {
    fail(ExitCode::kBadData, "too few measured runs for an interval",
         "four in one file are enough");
  }
  result.covered = coverage(campaigns, device, result.efficiency);
  return result;
}

Prediction predict(const Run& run, const Device& device, const Calibration& calibration) {
  Prediction p;
  p.layout = complete_layout(run.model, run.layout, device, calibration.efficiency);
  p.time = step_time(run.model, p.layout, device, calibration.efficiency);
  for (const auto& [name, value] : properties(run, p.layout)) {
    const auto range = calibration.covered.find(name);
    if (range == calibration.covered.end()) continue;
    if (value >= range->second.lowest && value <= range->second.highest) continue;
    p.outside.push_back(fmt::format("{} {} (calibrated on {} to {})", name, value,
                                    range->second.lowest, range->second.highest));
  }
  if (!device.borrows.empty() && calibration.device == device.borrows) {
    p.outside.push_back(fmt::format("hardware {} (calibrated on {}; no runs of its own)",
                                    device.name, device.borrows));
  }
  const double needs = memory_per_device(run.model, p.layout).total();
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

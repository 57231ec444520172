#include "plan/outlook.h"

#include <cmath>

#include "base/error.h"

namespace hum::plan {

using graph::RecomputePolicy;

namespace {

// Adds checkpoints, days, cost and energy, given the devices' failures.
void add_run(Outlook& outlook, const Transformer& model, const Device& device, const Goal& goal) {
  const double nodes = static_cast<double>(outlook.nodes);
  const double devices = static_cast<double>(outlook.prediction.layout.devices());
  outlook.checkpoint_bytes = 14 * model.parameters();
  outlook.checkpoint_s = outlook.checkpoint_bytes / (nodes * goal.storage_gb_per_s * 1e9);
  const Interruptions failures = {.checkpoint_s = outlook.checkpoint_s,
                                  .between_s = goal.device_mtbf_hours * 3600 / devices,
                                  .restart_s = 60 * goal.restart_minutes};
  static_cast<RunCost&>(outlook) =
      run_cost(failures, outlook.prediction.time.total(), outlook.tokens_per_s,
               nodes * device.price_per_node_hour.value, goal.tokens);
  outlook.energy_kwh = device.power_w.value * devices * outlook.days * 24 / 1e3;
}

}  // namespace

void require_positive(const char* what, double value) {
  if (value > 0 && std::isfinite(value)) return;
  fail(ExitCode::kUsage, fmt::format("{} = {}", what, value),
       fmt::format("{} must be above zero", what));
}

double executed_flops_per_sequence(const Transformer& model, const Layout& layout) {
  const double s = static_cast<double>(model.sequence), h = static_cast<double>(model.hidden);
  const double flops = model.flops_per_sequence();
  switch (layout.recompute) {
    case RecomputePolicy::kFull: {
      const double head = 6 * s * static_cast<double>(model.vocab) * h;
      return head + (flops - head) * 4 / 3;
    }
    case RecomputePolicy::kSelective:
      return flops + 4 * static_cast<double>(model.layers) * s * s * h;
    case RecomputePolicy::kNone:
      break;
  }
  return flops;
}

Outlook look_ahead(const Transformer& model, const Layout& layout, const Device& device,
                   const Calibration& calibration, const Goal& goal) {
  validate(model, layout);
  require_positive("device_mtbf_hours", goal.device_mtbf_hours);
  require_positive("storage_gb_per_s", goal.storage_gb_per_s);
  require_positive("restart_minutes", goal.restart_minutes);
  if (goal.tokens != 0) require_positive("tokens", goal.tokens);
  Outlook outlook;
  outlook.prediction = predict({.model = model, .layout = layout}, device, calibration);
  const Layout& chosen = outlook.prediction.layout;
  outlook.memory = memory_per_device(model, chosen);
  outlook.memory_limit = device.memory_gb.value * 1e9;
  const double devices = static_cast<double>(layout.devices());
  outlook.nodes = static_cast<int64_t>(std::ceil(devices / device.devices_per_node.value));
  const double seconds = outlook.prediction.time.total();
  const double sequences = static_cast<double>(layout.global_batch);
  outlook.tokens_per_s = sequences * static_cast<double>(model.sequence) / seconds;
  const double peak = devices * device.peak_tflops.value * 1e12 * seconds;
  outlook.mfu = sequences * model.flops_per_sequence() / peak;
  outlook.hfu = sequences * executed_flops_per_sequence(model, chosen) / peak;
  add_run(outlook, model, device, goal);
  return outlook;
}

}  // namespace hum::plan

// What a training run on a cluster needs: memory, speed, days, money, checkpoints.
#pragma once

#include "plan/calibration.h"
#include "plan/memory.h"
#include "plan/run_cost.h"

namespace hum::plan {

// The goal of the run, and facts about the cluster from its user.
struct Goal {
  double tokens = 0;                 // to train on; 0: not given
  double device_mtbf_hours = 50700;  // between failures of one device
  double storage_gb_per_s = 1;       // checkpoint write speed per node
  double restart_minutes = 10;       // from a failure to the first new step
  template <class V>
  void visit_fields(V& v) {
    v("tokens", tokens, "tokens to train on, e.g. 1e12: days and cost");
    v("device_mtbf_hours", device_mtbf_hours,
      "hours between failures of one device (Llama 3: 419 interruptions, 16384 devices, 54 days)");
    v("storage_gb_per_s", storage_gb_per_s, "checkpoint write speed per node, GB/s");
    v("restart_minutes", restart_minutes, "minutes from a failure to the first new step");
  }
};

// On demand.
struct Outlook : RunCost {
  Prediction prediction;
  Memory memory;
  double memory_limit = 0;  // bytes of a device
  int64_t nodes = 0;
  double tokens_per_s = 0;
  double mfu = 0;  // FLOPs of the model, without recomputation, over peak FLOP/s x time
  double hfu = 0;  // same, including recomputation
  double checkpoint_bytes = 0;  // 16-bit weights, f32 master weights and two moments
  double checkpoint_s = 0;      // to write one
  double energy_kwh = 0;  // devices only, at full power; 0: no tokens given, or power not published
  bool fits() const { return memory.total() <= memory_limit; }
};

// Throws kUsage if the layout is impossible or a goal's figure is not above zero. A layout that
// does not fit is not an error: check fits().
Outlook look_ahead(const Transformer& model, const Layout& layout, const Device& device,
                   const Calibration& calibration, const Goal& goal);

// Throws kUsage unless `value` is finite and above zero.
void require_positive(const char* what, double value);

// FLOPs executed for one sequence, including recomputation.
double executed_flops_per_sequence(const Transformer& model, const Layout& layout);

}  // namespace hum::plan

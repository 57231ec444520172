#include "plan/checkpoints.h"

#include <cmath>

#include "base/error.h"

namespace hum::plan {

double best_interval_s(const Interruptions& run) {
  if (run.checkpoint_s >= 2 * run.between_s) return run.between_s;
  const double ratio = run.checkpoint_s / (2 * run.between_s);
  return std::sqrt(2 * run.checkpoint_s * run.between_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) -
         run.checkpoint_s;
}

double goodput(const Interruptions& run, double interval_s) {
  const double cycle_s = run.between_s * std::exp(run.restart_s / run.between_s) *
                         std::expm1((interval_s + run.checkpoint_s) / run.between_s);
  const double share = interval_s / cycle_s;
  if (!(share > 1e-6)) {
    fail(ExitCode::kUsage,
         fmt::format("with interruptions every {:.0f} s, {:.0f} s checkpoints and "
                     "{:.0f} s restarts, a run makes no progress",
                     run.between_s, run.checkpoint_s, run.restart_s),
         "use faster storage, faster restarts, or fewer nodes");
  }
  return share;
}

}  // namespace hum::plan

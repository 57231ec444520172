// A bar whose figure is the speedup of hum's training step over PyTorch's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "bench/scale.h"
#include "eval/harness/bar.h"

namespace hum::bench {

// One way in which hum runs its steps.
struct HumSteps {
  std::string setting;  // empty if there is only one
  // {"losses", "milliseconds"}.
  std::function<Json(int steps)> run;
};

struct TorchBar {
  std::string name;
  std::string dtype;            // of both sides' activations
  std::string script, problem;  // the peer's, and the file that both start from
  std::vector<HumSteps> hum;    // the fastest counts, as with PyTorch's settings
  double limit = 0, loss_limit = 0;
  // Per step, for the figures; 0: not counted.
  double gigaflops = 0;
};

// Every setting of PyTorch must reproduce the losses of the first one, and so must hum.
eval::Bar against_torch(const TorchBar& bar, const Scale& scale);

}  // namespace hum::bench

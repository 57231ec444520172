// The validation loss of a run: means over a fixed set of held-out batches, by the weights that the
// run would release. It changes nothing in training.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/host_tensor.h"
#include "train/training_step.h"

namespace hum::train {

// Makes the arrays of a step's batch. They depend on the step alone, so that a resumed run gets the
// same data. May be called from several threads at once.
using BatchSource = std::function<std::vector<runtime::HostTensor>(int64_t step)>;

// Batches of held-out items.
struct HeldOut {
  BatchSource batches;  // by its index
  int64_t count = 0;    // batches without an item twice; 0: nothing is held out
};

class Validation {
 public:
  // Makes the first `count` batches, and keeps them.
  Validation(Trainer& trainer, const HeldOut& held_out, int64_t count);

  int64_t batches() const { return std::ssize(batches_); }
  using Means = std::vector<std::pair<std::string, double>>;
  // Loss (the first) and metrics after `step` steps.
  Means means(int64_t step);

 private:
  Trainer& trainer_;
  std::vector<std::vector<runtime::HostTensor>> batches_;
};

}  // namespace hum::train

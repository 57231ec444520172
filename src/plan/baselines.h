// Baselines that a prediction must beat, and the cost of wrong choices.
#pragma once

#include <span>
#include <vector>

#include "plan/runs.h"

namespace hum::plan {

// Predicts with one constant TFLOP/s, for all runs or for each tp degree, fitted to the runs of all
// other (hidden, layers): the constant with the smallest mean absolute error. A tp degree that no
// other model has uses the constant of all others.
std::vector<double> null_model_held_out(const Campaign& campaign, bool per_tp);

// The cost of choices, and how many there were.
struct Regret {
  double worst_percent = 0;
  int64_t decisions = 0;  // groups of two plans and more
  int64_t plans = 0;      // in these groups
};

// Among plans for the same model, devices and batch, the predicted fastest is chosen: returns the
// largest fraction, over such groups, by which it is slower than the actual fastest.
Regret top_regret(const Campaign& campaign, std::span<const double> predicted);

}  // namespace hum::plan

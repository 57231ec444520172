// What a prediction has to beat, and what a wrong choice costs.
#pragma once

#include <span>
#include <vector>

#include "plan/runs.h"

namespace hum::plan {

// Predictions by one constant TFLOP/s, for all runs or for each tp degree, fitted to the runs of
// all other (hidden, layers): the constant with the smallest mean absolute error. A tp degree that
// no other model has gets the constant of all others.
std::vector<double> null_model_held_out(const Campaign& campaign, bool per_tp);

// What choices cost, and how many there were to make.
struct Regret {
  double worst_percent = 0;
  int64_t decisions = 0;  // groups of two plans and more
  int64_t plans = 0;      // in these groups
};

// Of plans for the same model, devices and batch, the one that is predicted to be fastest is taken:
// the largest share, over such groups, by which it is slower than the fastest.
Regret top_regret(const Campaign& campaign, std::span<const double> predicted);

}  // namespace hum::plan

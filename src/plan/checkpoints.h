// How often a randomly interrupted run should write checkpoints, and the resulting share of useful
// time. Interruptions are a Poisson process; bursts are not modelled.
#pragma once

namespace hum::plan {

struct Interruptions {
  double checkpoint_s = 0;  // to write one
  double between_s = 0;     // from one interruption to the next, on average
  double restart_s = 0;     // from an interruption to the first new step
};

// Seconds of work between two checkpoints: the optimum to higher order. Source: Daly 2006, "A
// higher order estimate of the optimum checkpoint interval for restart dumps", equation 37.
double best_interval_s(const Interruptions& run);

// The share of time spent on work that counts. Exact for Poisson interruptions, including those
// during restarts and checkpoints. Throws kUsage if almost none succeeds. Source: Daly 2006,
// equation 20.
double goodput(const Interruptions& run, double interval_s);

}  // namespace hum::plan

// How often a run that is interrupted at random should write checkpoints, and what share of its
// time then counts. Interruptions are a Poisson process: bursts are not known to it.
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

// Share of the time that goes into work that counts. Exact for Poisson interruptions, those of
// restarts and of checkpoints included. Throws kBadData when almost none succeeds. Source: Daly
// 2006, equation 20.
double goodput(const Interruptions& run, double interval_s);

}  // namespace hum::plan

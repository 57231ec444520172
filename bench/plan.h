// The planner's bars: predictions of published runs by efficiencies fitted without the run's model.
#pragma once

#include "eval/harness/bar.h"

namespace hum::bench {

eval::Bar plan_a100_multi();
eval::Bar plan_a100_single();
eval::Bar plan_megatron();
eval::Bar plan_trn1();
// What selective recomputation with sequence parallelism gains over full recomputation.
eval::Bar plan_recompute();
// What taking the plan predicted to be fastest costs.
eval::Bar plan_regret();

// Memory of steps of hum's own models as planned and as compiled.
eval::Bar plan_memory();

}  // namespace hum::bench

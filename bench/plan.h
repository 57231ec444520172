// The planner's bars: predictions of published runs by efficiencies fitted without the run's model.
#pragma once

#include "bench/scale.h"
#include "eval/harness/bar.h"

namespace hum::bench {

eval::Bar plan_a100_multi(const Scale& scale);
eval::Bar plan_a100_single(const Scale& scale);
eval::Bar plan_megatron(const Scale& scale);
eval::Bar plan_trn1(const Scale& scale);
// What selective recomputation with sequence parallelism gains over full recomputation.
eval::Bar plan_recompute(const Scale& scale);
// What taking the plan predicted to be fastest costs.
eval::Bar plan_regret(const Scale& scale);

// Memory of steps of hum's own models as planned and as compiled.
eval::Bar plan_memory(const Scale& scale);

}  // namespace hum::bench

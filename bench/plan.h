// The planner's bars: predictions of published runs, with efficiencies fitted without the run's
// model.
#pragma once

#include "bench/scale.h"
#include "eval/harness/bar.h"

namespace hum::bench {

eval::Bar plan_a100_multi(const Scale& scale);
eval::Bar plan_a100_single(const Scale& scale);
eval::Bar plan_megatron(const Scale& scale);
eval::Bar plan_trn1(const Scale& scale);
// The gain of selective recomputation with sequence parallelism over full recomputation.
eval::Bar plan_recompute(const Scale& scale);
// The cost of choosing the plan predicted to be fastest.
eval::Bar plan_regret(const Scale& scale);

// Memory of steps of hum's own models, as planned and as compiled.
eval::Bar plan_memory(const Scale& scale);

}  // namespace hum::bench

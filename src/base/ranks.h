// Which of the processes that a launcher started together this one is.
#pragma once

#include <cstdint>

namespace hum {

struct ProcessRank {
  int64_t rank = 0, ranks = 1;  // 0 <= rank < ranks
};

// From mpirun's (OMPI_COMM_WORLD_RANK, _SIZE), torchrun's (RANK, WORLD_SIZE) or srun's variables
// (SLURM_PROCID, SLURM_STEP_NUM_TASKS: a batch script outside srun is one process); the first pair
// that is set counts, since launchers start within each other in this order. Else 0 of 1.
// Throws: kUsage when a variable is no number or the rank lies outside.
ProcessRank process_rank();

}  // namespace hum

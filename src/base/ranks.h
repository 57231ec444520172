// The rank of this process among those that a launcher started together.
#pragma once

#include <cstdint>

namespace hum {

struct ProcessRank {
  int64_t rank = 0, ranks = 1;  // 0 <= rank < ranks
};

// Reads the variables of mpirun (OMPI_COMM_WORLD_RANK, _SIZE), torchrun (RANK, WORLD_SIZE) or srun
// (SLURM_PROCID, SLURM_STEP_NUM_TASKS; a batch script outside srun is one process). The first pair
// that is set is used: launchers nest in this order. Otherwise 0 of 1. Throws: kUsage if a variable
// is not a number or the rank is out of range.
ProcessRank process_rank();

}  // namespace hum

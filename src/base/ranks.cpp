#include "base/ranks.h"

#include <string_view>

#include "base/env.h"
#include "base/error.h"

namespace hum {

ProcessRank process_rank() {
  static constexpr struct {
    std::string_view rank, ranks;
  } kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                    {"RANK", "WORLD_SIZE"},
                    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& names : kLaunchers) {
    if (env_string(names.rank).empty() || env_string(names.ranks).empty()) continue;
    const ProcessRank found{env_int(names.rank, 0), env_int(names.ranks, 1)};
    if (found.rank < 0 || found.rank >= found.ranks) {
      fail(ExitCode::kUsage, fmt::format("{}={} is out of range: {}={}", names.rank, found.rank,
                                         names.ranks, found.ranks));
    }
    return found;
  }
  return {};
}

}  // namespace hum

#include "base/ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace hum {
namespace {

class Ranks : public ::testing::Test {
 protected:
  Ranks() { clear(); }
  ~Ranks() override { clear(); }
  static void clear() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "RANK", "WORLD_SIZE",
                             "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}) {
      unsetenv(name);
    }
  }
  static void set(const char* rank_name, const char* rank, const char* ranks_name,
                  const char* ranks) {
    setenv(rank_name, rank, 1);
    setenv(ranks_name, ranks, 1);
  }
};

TEST_F(Ranks, AreOneProcessWithoutALauncher) {
  EXPECT_EQ(process_rank().rank, 0);
  EXPECT_EQ(process_rank().ranks, 1);
  setenv("SLURM_PROCID", "3", 1);  // a batch script, outside srun
  EXPECT_EQ(process_rank().ranks, 1);
}

TEST_F(Ranks, AreWhatTheInnermostLauncherSays) {
  set("SLURM_PROCID", "1", "SLURM_STEP_NUM_TASKS", "2");
  EXPECT_EQ(process_rank().rank, 1);
  set("RANK", "5", "WORLD_SIZE", "8");
  EXPECT_EQ(process_rank().rank, 5);
  set("OMPI_COMM_WORLD_RANK", "11", "OMPI_COMM_WORLD_SIZE", "16");
  EXPECT_EQ(process_rank().rank, 11);
  EXPECT_EQ(process_rank().ranks, 16);
}

TEST_F(Ranks, MustLieInside) {
  set("RANK", "8", "WORLD_SIZE", "8");
  EXPECT_THROW(process_rank(), Error);
  set("RANK", "one", "WORLD_SIZE", "8");
  EXPECT_THROW(process_rank(), Error);
}

}  // namespace
}  // namespace hum
